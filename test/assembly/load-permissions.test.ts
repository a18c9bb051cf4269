import { describe, expect, it } from 'vitest';
import { readRoles } from '../../src/assembly/load-permissions.ts';
import { StartFault } from '../../src/model/fault.ts';
import { settingsOf } from './settings.ts';

const UNKNOWN = 'roles:\n  standard:\n    permissions: [Fly]\n';
const catalogue = { permissions: ['Walk'], groups: [], flags: [] };

describe('the roles file', () => {
  it('is held to the names of the contract where there is one', () => {
    expect(() => readRoles(settingsOf({}, UNKNOWN), catalogue)).toThrow(StartFault);
  });

  it('is checked as far as it can be where there is none', () => {
    expect(readRoles(settingsOf({}, UNKNOWN)).roles.has('standard')).toBe(true);
    expect(() => readRoles(settingsOf({}, 'roles: [what]\n'))).toThrow(StartFault);
  });
});
