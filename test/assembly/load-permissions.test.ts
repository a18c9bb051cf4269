import { describe, expect, it } from 'vitest';
import { readRoles } from '../../src/assembly/load-permissions.ts';
import { StartFault } from '../../src/model/fault.ts';
import { settingsOf } from './settings.ts';

const UNKNOWN = 'roles:\n  standard:\n    permissions: [Fly]\n';
const catalogue = { permissions: ['Walk'], groups: [], flags: [] };

describe('the roles file', () => {
  it('is checked for names that are not in the contract', () => {
    expect(() => readRoles(settingsOf({}, UNKNOWN), catalogue)).toThrow(StartFault);
  });

  it('is checked without names if there is no contract', () => {
    expect(readRoles(settingsOf({}, UNKNOWN)).roles.has('standard')).toBe(true);
    expect(() => readRoles(settingsOf({}, 'roles: [what]\n'))).toThrow(StartFault);
  });
});
