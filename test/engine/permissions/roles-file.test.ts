import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { StartFault, type Fault } from '../../../src/engine/model/fault.ts';
import {
  demoAccounts,
  loadRoles,
  nameFaults,
  rolesFileSchema,
  unmappedPolicyOf,
  withoutDemoAccounts,
} from '../../../src/engine/permissions/roles-file.ts';
import { termsOf } from '../../../src/engine/model/operation.ts';
import { OPERATIONS, PRIVATE_FIELDS, SEED } from './permissions-fixtures.ts';

const TERMS = [
  ...OPERATIONS.flatMap(({ requires }) => (requires ? termsOf(requires) : [])),
  ...termsOf(PRIVATE_FIELDS.requires),
];
const namesOf = (kind: string) => TERMS.filter((term) => term.kind === kind).map(({ name }) => name);
const CATALOGUE = { permissions: namesOf('permission'), groups: namesOf('group'), flags: namesOf('flag') };

function faultsOf(text: string): readonly Fault[] {
  try {
    loadRoles(text, 'roles.yaml', CATALOGUE);
  } catch (error) {
    if (error instanceof StartFault) return error.faults;
    throw error;
  }
  return [];
}

describe('the bundled roles file', () => {
  it('is valid and contains only names from the contract', () => {
    expect(faultsOf(SEED)).toEqual([]);
  });

  it('is checked anew for another source or contract, even if the text is the same', () => {
    const first = loadRoles(SEED, 'roles.yaml', CATALOGUE);
    expect(loadRoles(SEED, 'other.yaml', CATALOGUE)).toEqual({ ...first, source: 'other.yaml' });
    expect(() => loadRoles(SEED, 'other.yaml', { ...CATALOGUE, permissions: [] })).toThrow('other.yaml');
    expect(faultsOf(`${SEED}\nunknown: 1\n`)).toHaveLength(1);
    expect(faultsOf(SEED)).toEqual([]);
  });

  it('contains only demo accounts, which are removed with a real upstream', () => {
    const roles = loadRoles(SEED, 'roles.yaml', CATALOGUE);
    expect(demoAccounts(roles)).toEqual(['admin', 'moderator', 'alice', 'bob', 'guest']);
    expect(withoutDemoAccounts(roles).accounts).toEqual([]);
    expect([...withoutDemoAccounts(roles).roles.keys()]).toContain('standard');
  });

  it('retains other accounts with a real upstream', () => {
    const roles = loadRoles(
      '{roles: {}, accounts: [{name: a, roles: [], demo: true}, {name: b, roles: []}]}',
      '',
      undefined,
    );
    expect(withoutDemoAccounts(roles).accounts.map(({ name }) => name)).toEqual(['b']);
  });

  it('has the same schema for editors as for validation', () => {
    const path = join(import.meta.dirname, '../../../config/roles.schema.json');
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(rolesFileSchema);
  });
});

describe('two accounts with the same name', () => {
  const roles = loadRoles(
    '{roles: {}, accounts: [{name: Ann, roles: []}, {name: bob, roles: []}, {name: ann, roles: []}, {name: ANN, roles: []}]}',
    'roles.yaml',
    undefined,
  );

  it('are reported for every account after the first, if the case of names is ignored', () => {
    const fault = { source: 'roles.yaml', pointer: '/accounts', suggestion: 'remove one of the two accounts' };
    expect(nameFaults(roles, 'ignoreCase')).toEqual([
      { ...fault, message: '"ann" and "Ann" are the same name with roles.names: ignoreCase' },
      { ...fault, message: '"ANN" and "Ann" are the same name with roles.names: ignoreCase' },
    ]);
  });

  it('are two accounts if names are compared exactly', () => {
    expect(nameFaults(roles, 'exact')).toEqual([]);
  });
});

it('only demo accounts count as demo accounts', () => {
  const accounts = '[{name: a, roles: [], demo: true}, {name: b, roles: []}]';
  expect(demoAccounts(loadRoles(`{roles: {}, accounts: ${accounts}}`, '', undefined))).toEqual(['a']);
});

describe('a roles file with errors', () => {
  it('is rejected with all of them in one run', () => {
    const faults = faultsOf(`
      unmapped: standart
      groups: [Super Users]
      roles:
        standard: {inherits: [anonymus], permissions: [Mark as favourite]}
        anonymous: {}
        a: {inherits: [b]}
        b: {inherits: [a]}
      accounts:
        - {name: x, roles: [standard, moderatr], groups: [Superusers], flags: [super_user]}
        - {name: x, roles: []}
    `);
    expect(faults.map(({ pointer, suggestion }) => [pointer, suggestion])).toEqual([
      ['/roles/standard/inherits/0', 'anonymous'],
      ['/roles/standard/permissions/0', 'Mark as favorite'],
      ['/roles', undefined],
      ['/accounts/0/roles/1', undefined],
      ['/accounts/0/groups/0', 'Super Users'],
      ['/accounts/0/flags/0', 'superuser'],
      ['/accounts/1', undefined],
      ['/unmapped', 'standard'],
    ]);
    expect(faults[2]?.message).toBe('roles inherit each other: a → b → a');
    expect(faults.every(({ source }) => source === 'roles.yaml')).toBe(true);
  });

  it('may contain any permissions if there is no catalogue', () => {
    expect(() => loadRoles('{roles: {r: {permissions: [anything]}}}', 'roles.yaml', undefined)).not.toThrow();
  });

  const BOMB = Array.from({ length: 7 }, (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at}, `.repeat(8)}x]`).join('\n');

  it.each([
    ['an unknown key', '{roles: {}, acounts: []}', '/acounts', 'accounts'],
    ['an unknown key of a role', '{roles: {"a/b": {permision: []}}}', '/roles/a~1b/permision', 'permissions'],
    ['no roles', '{accounts: []}', '', undefined],
    ['a role named like a policy', '{roles: {deny: {}}}', '/roles', undefined],
    ['a wrong type', '{roles: {a: {permissions: x}}}', '/roles/a/permissions', undefined],
    ['an account without a name', '{roles: {}, accounts: [{roles: []}]}', '/accounts/0', undefined],
    ['an empty file', '', '', undefined],
    ['an undefined alias', '{roles: *x}', '', undefined],
    // The "billion laughs" attack: each level repeats the previous one, so the file would expand to millions of values.
    ['too many aliases', `roles: {}\na0: &a0 [x]\n${BOMB}`, '', undefined],
  ])('is rejected for %s', (_, text, pointer, suggestion) => {
    expect(faultsOf(text)).toContainEqual(
      expect.objectContaining({ pointer, ...(suggestion === undefined ? {} : { suggestion }) }),
    );
  });

  it('is rejected for invalid syntax and repeated keys, with the line', () => {
    const repeated = faultsOf('roles:\n  a: {}\n  a: {}');
    expect(repeated).toEqual([{ source: 'roles.yaml:3', pointer: '', message: 'has the same key twice' }]);
    expect(faultsOf('roles: {')).toMatchObject([{ source: 'roles.yaml:1' }]);
  });

  it.each([
    ['{rolse: {}}', '/rolse'],
    ['{roles: {}, accounts: [{name: a, role: []}]}', '/accounts/0/role'],
    ['{roles: {}, accounts: [{nmae: a, roles: []}]}', '/accounts/0/nmae'],
  ])('has only one error for a misspelled required key: %s', (text, pointer) => {
    expect(faultsOf(text)).toMatchObject([{ pointer, message: 'unknown key' }]);
  });

  it('is rejected for an invalid hash, which no message contains', () => {
    const faults = faultsOf('{roles: {}, accounts: [{name: a, roles: [], passwordHash: hunter2}]}');
    expect(faults).toMatchObject([{ pointer: '/accounts/0/passwordHash' }]);
    const broken = faultsOf('roles: {}\naccounts:\n  - passwordHash: "hunter2\n');
    expect(JSON.stringify([faults, broken])).not.toContain('hunter2');
  });
});

describe('the policy for unmapped callers (docs/rules.md §3)', () => {
  const silent = loadRoles('{roles: {standard: {}}}', 'roles.yaml', undefined);
  const speaking = loadRoles('{unmapped: standard, roles: {standard: {}}}', 'roles.yaml', undefined);

  it('is that of the verifier if nothing else is configured', () => {
    expect(unmappedPolicyOf(silent, undefined, 'delegate')).toEqual({ kind: 'delegate' });
    expect(unmappedPolicyOf(silent, undefined, 'deny')).toEqual({ kind: 'deny' });
  });

  it('comes from the roles file, unless the configuration overrides it', () => {
    expect(unmappedPolicyOf(speaking, undefined, 'delegate')).toEqual({ kind: 'role', role: 'standard' });
    expect(unmappedPolicyOf(speaking, 'deny', 'delegate')).toEqual({ kind: 'deny' });
  });

  it('cannot be a role that does not exist', () => {
    expect(() => unmappedPolicyOf(silent, 'standart', 'deny')).toThrow(/configuration \/roles\/unmapped.*standart/);
  });
});
