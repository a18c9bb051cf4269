import { describe, expect, it } from 'vitest';
import { loadRoles } from '../../src/permissions/load-roles.ts';
import { unmappedPolicyOf } from '../../src/permissions/roles-file.ts';

const silent = loadRoles('{roles: {standard: {}}}', 'roles.yaml', undefined);
const speaking = loadRoles('{unmapped: standard, roles: {standard: {}}}', 'roles.yaml', undefined);

describe('the policy for unmapped callers (rules, 3)', () => {
  it('is delegate with the upstream verifier and deny with the file verifier', () => {
    expect(unmappedPolicyOf(silent, undefined, 'upstream')).toEqual({ kind: 'delegate' });
    expect(unmappedPolicyOf(silent, undefined, 'file')).toEqual({ kind: 'deny' });
  });

  it('comes from the roles file, unless the configuration overrides it', () => {
    expect(unmappedPolicyOf(speaking, undefined, 'upstream')).toEqual({ kind: 'role', role: 'standard' });
    expect(unmappedPolicyOf(speaking, 'deny', 'upstream')).toEqual({ kind: 'deny' });
  });

  it('cannot be a role that does not exist', () => {
    expect(() => unmappedPolicyOf(silent, 'standart', 'file')).toThrow(/configuration \/roles\/unmapped.*standart/);
  });
});
