import { describe, expect, it } from 'vitest';
import { findOwner } from '../../../src/profile/ownership.ts';
import { ANONYMOUS, type Principal } from '../../../src/engine/model/principal.ts';
import type { Requirement } from '../../../src/engine/model/operation.ts';
import { compilePermissions } from '../../../src/engine/permissions/compile-permissions.ts';
import { createOwnership } from '../../../src/engine/permissions/ownership.ts';
import { PERMISSIONS_DEFAULTS } from '../../../src/engine/permissions/permissions-options.ts';
import type { RolesFile, UnmappedPolicy } from '../../../src/engine/permissions/roles-file.ts';
import { createDecide } from '../../../src/engine/pipeline/decide-request.ts';
import { callerNamed, exchangeWith, type PlannedParts, plannedWith } from '../../builders/exchange.ts';
import { createTestClock } from '../../builders/test-clock.ts';

describe('permission decisions', () => {
  const OWN_OR_MOD: Requirement = { any: [{ permission: 'Wiki' }, { own: { permission: 'Own wiki' } }] };

  interface World {
    readonly roles?: RolesFile;
    readonly unmapped?: UnmappedPolicy;
    readonly requires?: Requirement | undefined;
    readonly authors?: Readonly<Record<string, string>>;
    readonly remembered?: Readonly<Record<string, string>>;
    readonly comments?: Readonly<Record<string, unknown>>;
    readonly disabledOperations?: readonly [string, string][];
  }

  const ROLES: RolesFile = {
    source: 'roles.yaml',
    unmapped: undefined,
    roles: new Map([
      ['standard', { inherits: [], permissions: ['Own wiki'] }],
      ['moderator', { inherits: [], permissions: ['Wiki'] }],
    ]),
    accounts: [
      { name: 'alice', roles: ['standard'], groups: [], flags: [], demo: false, passwordHash: undefined },
      { name: 'mod', roles: ['moderator'], groups: [], flags: [], demo: false, passwordHash: undefined },
    ],
  };

  function world({
    roles = ROLES,
    unmapped = { kind: 'delegate' },
    requires = OWN_OR_MOD,
    authors,
    remembered = {},
    comments = {},
    disabledOperations = [],
  }: World) {
    const asked: string[] = [];
    const permissions = compilePermissions({
      roles,
      operations: [{ id: 'listThings', requires }],
      unmapped,
      names: 'exact',
      knownToUpstream: true,
    });
    const ownership = createOwnership(PERMISSIONS_DEFAULTS.ownership, createTestClock(), 'exact', (id) => {
      asked.push(id);
      return Promise.resolve(authors?.[id]);
    });
    for (const [id, name] of Object.entries(remembered)) ownership.learn(id, name);
    const lookUp = (target: string) => {
      asked.push(target);
      return Promise.resolve(comments[target]);
    };
    return {
      asked,
      services: { permissions, ownership, findOwner, lookUp, disabledOperations: new Map(disabledOperations) },
    };
  }

  const exchangeOf = (
    principal: Principal,
    path: Record<string, string>,
    services: ReturnType<typeof world>['services'],
  ) => exchangeWith({ principal, grants: services.permissions.grantsOf(principal), values: { path } });

  async function decided(
    given: World,
    principal: Principal = callerNamed('alice'),
    path: Record<string, string> = { nodeId: '7' },
    parts: PlannedParts = {},
  ) {
    const { services, asked } = world(given);
    const decision = await createDecide(services)(plannedWith(parts), exchangeOf(principal, path, services));
    return { decision, asked };
  }

  describe('a decision', () => {
    it("needs no lookup of the node's author if the author cannot change the result", async () => {
      expect(await decided({}, callerNamed('mod'))).toMatchObject({ decision: { verdict: 'allowed' }, asked: [] });
      const strict = { requires: { permission: 'Wiki' } };
      expect(await decided(strict)).toMatchObject({ decision: { verdict: 'denied' }, asked: [] });
    });

    it('depends on the author of the node, who is looked up if not remembered', async () => {
      expect(await decided({ authors: { 7: 'alice' } })).toMatchObject({
        decision: { verdict: 'allowed' },
        asked: ['7'],
      });
      expect(await decided({ authors: { 7: 'bob' } })).toMatchObject({ decision: { verdict: 'denied' } });
      expect(await decided({ remembered: { 7: 'alice' } })).toMatchObject({
        decision: { verdict: 'allowed' },
        asked: [],
      });
    });

    it('is left to the upstream if the author is unknown', async () => {
      expect((await decided({})).decision).toEqual({ verdict: 'delegated', because: 'ownership' });
      expect((await decided({}, callerNamed('alice'), {})).decision).toEqual({
        verdict: 'delegated',
        because: 'ownership',
      });
    });

    it('is a denial if the upstream could not decide either because there is no credential', async () => {
      const mute = callerNamed('alice', { authorization: undefined });
      expect((await decided({}, mute)).decision.verdict).toBe('denied');
    });

    it('denies an anonymous caller what only an author may do', async () => {
      const requires: Requirement = { own: { all: [] } };
      expect((await decided({ requires, authors: { 7: 'alice' } }, ANONYMOUS)).decision.verdict).toBe('denied');
    });

    it('needs no lookup for a request that will not be refused', async () => {
      const { decision, asked } = await decided(
        { authors: { 7: 'bob' } },
        callerNamed('alice'),
        { nodeId: '7' },
        {
          checks: { permissions: 'report' },
        },
      );
      expect([decision.verdict, asked]).toEqual(['delegated', []]);
    });

    it('is a denial for any caller of a switched-off operation, naming the configuration key', async () => {
      const { decision } = await decided(
        { disabledOperations: [['listThings', 'issueTracker.enabled']] },
        callerNamed('mod'),
      );
      expect(decision).toEqual({ verdict: 'denied', missing: ['issueTracker.enabled'] });
    });

    it('is left to the upstream for a caller without an account, without looking up the node', async () => {
      const { decision, asked } = await decided({ authors: { 7: 'stranger' } }, callerNamed('stranger'));
      expect(asked).toEqual([]);
      expect(decision).toEqual({
        verdict: 'delegated',
        because: 'unmapped',
      });
    });
  });

  describe('a decision on a comment', () => {
    const target = '/services/v2/comment/9.json';
    const on = (comment: unknown, principal = callerNamed('alice')) =>
      decided({ comments: { [target]: comment } }, principal, { commentId: '9' });

    it("depends on the comment's author", async () => {
      expect(await on({ author: { username: 'alice' } })).toMatchObject({
        decision: { verdict: 'allowed' },
        asked: [target],
      });
      expect((await on({ author: { username: 'bob' } })).decision.verdict).toBe('denied');
    });

    it('allows every authenticated caller to edit a community wiki', async () => {
      expect((await on({ wiki: true, author: { username: 'bob' } })).decision.verdict).toBe('allowed');
      const claimed = callerNamed('alice', { kind: 'unverified' });
      expect((await on({ wiki: true }, claimed)).decision.verdict).not.toBe('allowed');
    });

    // If unverified names counted as owners and anonymous callers had a permission for their own nodes, a caller could
    // edit every wiki by claiming other names.
    it('does not let an unverified name edit a community wiki, even if all may edit their own nodes', async () => {
      const anonymous = { inherits: [], permissions: ['Own wiki'] };
      const roles: RolesFile = { ...ROLES, roles: new Map([...ROLES.roles, ['anonymous', anonymous]]) };
      const claimed = callerNamed('alice', { kind: 'unverified' });
      const comments = { [target]: { wiki: true } };
      const { decision, asked } = await decided({ roles, unmapped: { kind: 'deny' }, comments }, claimed, {
        commentId: '9',
      });
      expect([decision.verdict, asked]).toEqual(['denied', []]);
    });

    it('is left to the upstream if the comment cannot be read', async () => {
      expect((await on(undefined)).decision.verdict).toBe('delegated');
    });
  });
});
