import { describe, expect, it } from 'vitest';
import type { Access } from '../../../src/engine/model/principal.ts';
import { resolveRole } from '../../../src/engine/permissions/compile-permissions.ts';
import { decide, MISSING_SPELLING } from '../../../src/engine/permissions/decide.ts';
import { loadRoles } from '../../../src/engine/permissions/roles-file.ts';
import { compiled, OPERATIONS, principal, PRIVATE_FIELDS } from './permissions-fixtures.ts';

describe('compilePermissions', () => {
  /**
   * For each demo account, its access to each operation. 1 means allowed, 0 means denied, and o means allowed on the
   * account's own nodes.
   */
  const TABLE = {
    //                 admin moderator alice bob guest
    upload: '10000',
    job: '11111',
    attachments: '11000',
    comment: '11111',
    questions: '11111',
    actions: '10000',
    ideas: '11110',
    groupUsers: '10000',
    followers: '11111',
    unfavorite: '11110',
    unwikify: '11oo0',
    articles: '11110',
    expertise: '11111',
  } as const;
  const ACCOUNTS = ['admin', 'moderator', 'alice', 'bob', 'guest'];
  const MARKS = { allowed: '1', denied: '0', delegated: 'o' } as const;

  describe('a credential with an access of its own', () => {
    const permissions = compiled({ unmapped: { kind: 'delegate' }, knownToUpstream: true });
    const grantsOf = (name: string, access: Access) => permissions.grantsOf({ ...principal('verified', name), access });
    const verdictOf = (name: string, operation: string, access: Access) =>
      decide(permissions.requirementOf(operation), grantsOf(name, access), 'not-checked').verdict;

    it('can state roles, which then decide in place of the account', () => {
      const access = { id: 'x', roles: ['custom'] };
      expect(verdictOf('bob', 'ideas', access)).toBe('allowed');
      expect(verdictOf('admin', 'actions', access)).toBe('denied');
      expect(verdictOf('Alice', 'ideas', access)).toBe('allowed');
      expect(verdictOf('admin', 'ideas', { id: 'x', roles: [] })).toBe('denied');
      expect(verdictOf('admin', 'ideas', { id: 'x', roles: ['no such role'] })).toBe('denied');
    });

    it('shares pages with callers of the same permissions only if nothing of its own goes upstream', () => {
      const roles = ['custom'];
      const { key } = grantsOf('a', { id: 'x', roles });
      expect(key).toBeDefined();
      expect(grantsOf('b', { id: 'y', roles }).key).toBe(key);
      expect(grantsOf('a', { id: 'z', roles, authorization: 'Basic x' }).key).toBeUndefined();
    });

    it('is granted no more than what an account is said to have', () => {
      expect(permissions.accountAccess('bob')).toMatchObject({
        kind: 'account',
        names: expect.arrayContaining(['View list idea', 'View users list']) as string[],
      });
      expect(permissions.accountAccess('bob')).not.toMatchObject({
        names: expect.arrayContaining(['View analytics']) as string[],
      });
      // Only the upstream knows what others may do, so nothing but the permissions of anonymous callers is certain.
      const others = permissions.accountAccess('somebody');
      expect(others).toMatchObject({ kind: 'others', names: expect.arrayContaining(['View users list']) as string[] });
      expect(permissions.accountAccess('BOB')).toEqual({ kind: 'denied' });
      expect(compiled().accountAccess('somebody')).toEqual({ kind: 'denied' });
      const names = others.kind === 'denied' ? [] : others.names;
      for (const only of [new Set(names), new Set([...names, 'View list idea'])])
        expect(verdictOf('somebody', 'ideas', { id: 'x', only })).toBe('denied');
    });
  });

  describe('the bundled roles (docs/rules.md §3)', () => {
    const permissions = compiled();
    const verdicts = (operation: string, names: readonly string[]) =>
      names
        .map((name) => permissions.grantsOf(principal('verified', name)))
        .map((grants) => MARKS[decide(permissions.requirementOf(operation), grants, 'not-checked').verdict])
        .join('');

    it.each(Object.entries(TABLE))('grant the demo accounts access to %s as %s', (operation, expected) => {
      expect(verdicts(operation, ACCOUNTS)).toBe(expected);
    });

    it('cover every operation of the table', () => {
      expect(Object.keys(TABLE)).toEqual(OPERATIONS.map(({ id }) => id));
    });

    it('show private fields to callers who may use private comments and send one kind of them', () => {
      const shown = ACCOUNTS.filter((name) =>
        permissions.readerOf(PRIVATE_FIELDS)(permissions.grantsOf(principal('verified', name))),
      );
      expect(shown).toEqual(['admin', 'moderator', 'alice']);
    });

    it('give callers without a credential only the anonymous role', () => {
      const grants = permissions.grantsOf(principal('anonymous'));
      expect(grants).toMatchObject({ roles: ['anonymous'], delegated: false, denied: false });
      expect(decide(permissions.requirementOf('questions'), grants, 'not-checked').verdict).toBe('allowed');
      expect(decide(permissions.requirementOf('ideas'), grants, 'not-checked').verdict).toBe('denied');
    });
  });

  const rolesOf = (text: string) => loadRoles(text, 'roles.yaml', undefined);

  describe('compiled permissions (docs/rules.md §3)', () => {
    it('grant the superuser flag all permissions, but no groups', () => {
      const roles = rolesOf('{roles: {}, flags: [superuser], accounts: [{name: root, roles: [], flags: [superuser]}]}');
      const permissions = compiled({ roles });
      const grants = permissions.grantsOf(principal('verified', 'root'));
      expect(decide(permissions.requirementOf('groupUsers'), grants, 'not-checked').verdict).toBe('allowed');
      expect(decide(permissions.requirementOf('actions'), grants, 'not-checked')).toEqual({
        verdict: 'denied',
        missing: ['Super Users'],
      });
      expect(permissions.readerOf(PRIVATE_FIELDS)(grants)).toBe(true);
    });

    it.each([
      ['Use Private Comments', false],
      ['Use Private Comments, Send private comments to moderators', true],
      ['Use Private Comments, Send private comments to own groups', true],
      ['Use Private Comments, Send private comments to the original poster', true],
      ['Send private comments to moderators, Send private comments to own groups', false],
    ])('with %s show private fields: %s', (held, shown) => {
      const roles = rolesOf(`{roles: {r: {permissions: [${held}]}}, accounts: [{name: a, roles: [r]}]}`);
      const permissions = compiled({ roles });
      expect(permissions.readerOf(PRIVATE_FIELDS)(permissions.grantsOf(principal('verified', 'a')))).toBe(shown);
    });

    it('follow inheritance completely', () => {
      const roles = rolesOf(`
      roles: {c: {inherits: [b]}, b: {inherits: [a]}, a: {permissions: [View list idea]}}
      accounts: [{name: x, roles: [c]}]
    `);
      const permissions = compiled({ roles });
      const grants = permissions.grantsOf(principal('verified', 'x'));
      expect(grants.roles).toEqual(['c', 'b', 'a']);
      expect(decide(permissions.requirementOf('ideas'), grants, 'not-checked').verdict).toBe('allowed');
    });

    it('grant a claimed name nothing', () => {
      const permissions = compiled();
      expect(permissions.grantsOf(principal('unverified', 'admin'))).toBe(permissions.grantsOf(principal('anonymous')));
    });

    it.each(['__proto__', 'constructor', 'toString', 'Admin', 'admin '])('treat %j as unknown', (name) => {
      expect(compiled().grantsOf(principal('verified', name))).toMatchObject({ denied: true, key: undefined });
    });

    it('have the same key for callers with equal grants from any roles, and another key for others', () => {
      const roles = rolesOf(`
      groups: [g]
      flags: [f]
      roles: {r: {permissions: [p, q]}, s: {permissions: [q, p]}, g: {permissions: [p]}}
      accounts:
        - {name: one, roles: [r]}
        - {name: two, roles: [s, g]}
        - {name: less, roles: [g]}
        - {name: group, roles: [r], groups: [g]}
        - {name: flag, roles: [r], flags: [f]}
        - {name: nothing, roles: []}
    `);
      const keyOf = (name: string) => compiled({ roles }).grantsOf(principal('verified', name)).key;
      expect(keyOf('one')).toBe(keyOf('two'));
      expect(new Set(['one', 'less', 'group', 'flag', 'nothing'].map(keyOf)).size).toBe(5);
    });

    // Otherwise an account could escape its own role with a name that the server treats as the same.
    it('deny everything to a caller with another spelling of an account, and name the roles of all such accounts', () => {
      const text = '{roles: {r: {}, s: {}}, accounts: [{name: Ann, roles: [r, s]}, {name: aNN, roles: [s]}]}';
      const permissions = compiled({ roles: rolesOf(text), unmapped: { kind: 'role', role: 's' } });
      const other = permissions.grantsOf(principal('verified', 'ANN'));
      expect(other).toMatchObject({ roles: [], denied: true, key: undefined, spells: { roles: ['r', 's'] } });
      expect(decide(permissions.requirementOf('questions'), other, 'not-checked')).toEqual({
        verdict: 'denied',
        missing: [MISSING_SPELLING],
      });
      expect(permissions.grantsOf(principal('verified', 'Ann'))).toMatchObject({ roles: ['r', 's'], denied: false });
    });

    it('treat a verified caller without a name as one without an account', () => {
      const permissions = compiled({ unmapped: { kind: 'deny' } });
      expect(permissions.grantsOf(principal('verified'))).toMatchObject({ denied: true });
    });

    it('show private fields that require nothing to everybody, and those of the author to nobody', () => {
      const permissions = compiled({ further: [{ own: { all: [] } }] });
      const anonymous = permissions.grantsOf(principal('anonymous'));
      expect(permissions.readerOf({ names: [], requires: { all: [] } })(anonymous)).toBe(true);
      expect(permissions.readerOf({ names: [], requires: { own: { all: [] } } })(anonymous)).toBe(false);
    });

    it('have no rule for an operation that was not compiled', () => {
      expect(() => compiled().requirementOf('nothing')).toThrow('no rule was compiled for nothing');
    });
  });

  describe('a verified caller without an account (docs/rules.md §3)', () => {
    const stranger = principal('verified', 'stranger');
    const verdictOf = (permissions: ReturnType<typeof compiled>, operation: string) =>
      decide(permissions.requirementOf(operation), permissions.grantsOf(stranger), 'not-checked');

    it('is left to the upstream if `unmapped` is `delegate`, unless nothing is required', () => {
      const permissions = compiled({ unmapped: { kind: 'delegate' }, knownToUpstream: true });
      expect(verdictOf(permissions, 'questions')).toEqual({ verdict: 'delegated', because: 'unmapped' });
      expect(verdictOf(permissions, 'job').verdict).toBe('allowed');
      expect(permissions.grantsOf(stranger)).toMatchObject({ delegated: true, key: undefined, roles: [] });
      expect(permissions.readerOf(PRIVATE_FIELDS)(permissions.grantsOf(stranger))).toBe(true);
    });

    it('is denied everything with deny', () => {
      const permissions = compiled({ unmapped: { kind: 'deny' } });
      for (const { id } of OPERATIONS) expect(verdictOf(permissions, id).verdict).toBe('denied');
    });

    it('may not read private fields with deny, even if all other callers may', () => {
      const roles = rolesOf(
        '{roles: {anonymous: {permissions: [Use Private Comments, Send private comments to moderators]}}}',
      );
      const permissions = compiled({ roles });
      expect(permissions.readerOf(PRIVATE_FIELDS)(permissions.grantsOf(principal('anonymous')))).toBe(true);
      expect(permissions.readerOf(PRIVATE_FIELDS)(permissions.grantsOf(stranger))).toBe(false);
    });

    it('has the configured role', () => {
      const permissions = compiled({ unmapped: { kind: 'role', role: 'standard' } });
      expect(verdictOf(permissions, 'unfavorite').verdict).toBe('allowed');
      expect(verdictOf(permissions, 'ideas').verdict).toBe('denied');
    });

    it('is left to the upstream while unverified if the upstream decides and nothing is enforced', () => {
      const claimant = principal('unverified', 'admin');
      const left = compiled({ unmapped: { kind: 'delegate' }, knownToUpstream: true }).grantsOf(claimant, 'report');
      expect(left).toMatchObject({ delegated: true, key: undefined, roles: ['anonymous'] });
      const ours = compiled({ unmapped: { kind: 'delegate' }, knownToUpstream: false }).grantsOf(claimant, 'report');
      expect(ours).toMatchObject({ delegated: false, roles: ['anonymous'] });
      const denied = compiled({ unmapped: { kind: 'deny' }, knownToUpstream: true }).grantsOf(claimant, 'report');
      expect(denied).toMatchObject({ delegated: false, roles: ['anonymous'] });
    });

    // The attack: a client sends a credential that cannot be verified, for example because it is too long. If the
    // decision were left to the upstream, no request would be refused and no private field would be removed, even
    // though permissions are enforced.
    it('has the grants of an anonymous caller while unverified, if permissions are enforced', () => {
      const permissions = compiled({ unmapped: { kind: 'delegate' }, knownToUpstream: true });
      const anonymous = permissions.grantsOf(principal('anonymous'));
      expect(permissions.grantsOf(principal('unverified', 'admin'), 'enforce')).toBe(anonymous);
      expect(permissions.grantsOf(principal('unverified', 'admin'))).toBe(anonymous);
    });
  });
});

describe('a resolved role', () => {
  it('contains itself first, then what it inherits, without duplicates', () => {
    const roles = new Map([
      ['a', { inherits: ['b', 'c'], permissions: ['p'] }],
      ['b', { inherits: ['d'], permissions: ['q'] }],
      ['c', { inherits: ['d'], permissions: ['p', 'r'] }],
      ['d', { inherits: [], permissions: ['s'] }],
    ]);
    expect(resolveRole(roles, 'a')).toEqual({ names: ['a', 'b', 'd', 'c'], permissions: ['p', 'q', 's', 'r'] });
  });

  it('ignores cycles and unknown roles in its inheritance', () => {
    const roles = new Map([['a', { inherits: ['a', 'nowhere'], permissions: ['p'] }]]);
    expect(resolveRole(roles, 'a')).toEqual({ names: ['a'], permissions: ['p'] });
    expect(resolveRole(roles, 'nowhere')).toEqual({ names: [], permissions: [] });
  });
});
