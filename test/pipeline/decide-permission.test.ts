import { describe, expect, it } from 'vitest';
import { ANONYMOUS, type Principal } from '../../src/model/principal.ts';
import type { Decision, Requirement } from '../../src/model/requirement.ts';
import { UpstreamFailure } from '../../src/model/upstream-failure.ts';
import { compilePermissions } from '../../src/permissions/compile-permissions.ts';
import { createOwnership } from '../../src/permissions/ownership.ts';
import { PERMISSIONS_DEFAULTS } from '../../src/permissions/permissions-options.ts';
import type { RolesFile, UnmappedPolicy } from '../../src/permissions/roles-file.ts';
import {
  createDecide,
  decideFromMemory,
  isPermissionDenial,
  permissionMismatch,
  traceDecision,
  createLookup,
} from '../../src/pipeline/decide-permission.ts';
import type { ExchangedResponse } from '../../src/upstream/create-upstream.ts';
import {
  callerNamed,
  exchangeWith,
  operationWith,
  type PlannedParts,
  plannedWith,
  traceWith,
  JSON_TYPE,
} from '../builders/exchange.ts';
import { fakeExchanges } from '../builders/fake-exchanges.ts';
import { createTestClock } from '../builders/test-clock.ts';

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
      verifier: 'upstream',
    });
    const ownership = createOwnership(PERMISSIONS_DEFAULTS.ownership, createTestClock(), (id) => {
      asked.push(id);
      return Promise.resolve(authors?.[id]);
    });
    for (const [id, name] of Object.entries(remembered)) ownership.learn(id, name);
    const lookUp = (target: string) => {
      asked.push(target);
      return Promise.resolve(comments[target]);
    };
    return { asked, services: { permissions, ownership, lookUp, disabledOperations: new Map(disabledOperations) } };
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

  const foreseen = (given: World, principal = callerNamed('alice'), path: Record<string, string> = { nodeId: '7' }) => {
    const { services } = world(given);
    return decideFromMemory(services, plannedWith(), exchangeOf(principal, path, services));
  };

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

    // If a site's anonymous role has a permission for the caller's own nodes, a caller could otherwise edit every
    // wiki by claiming any name.
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

  describe('a decision without lookups', () => {
    it('names the reason why a caller is allowed, or what a denied caller is missing', () => {
      expect(foreseen({}, callerNamed('mod'))).toEqual({ verdict: 'allowed', because: 'Wiki' });
      expect(foreseen({ remembered: { 7: 'bob' } })).toEqual({ verdict: 'denied', missing: ['Wiki'] });
    });

    it('names what it would have to look up', () => {
      expect(foreseen({ authors: { 7: 'alice' } })).toEqual({ verdict: 'delegated', because: 'ownership' });
      expect(foreseen({ remembered: { 7: 'alice' } })).toMatchObject({ verdict: 'allowed' });
    });

    it('reports which callers are left to the upstream', () => {
      expect(foreseen({}, callerNamed('stranger'))).toEqual({ verdict: 'delegated', because: 'unmapped' });
    });

    it('denies switched-off operations', () => {
      expect(foreseen({ disabledOperations: [['listThings', 'issueTracker.enabled']] }, callerNamed('mod'))).toEqual({
        verdict: 'denied',
        missing: ['issueTracker.enabled'],
      });
    });
  });
});

describe('permission violations', () => {
  const ALLOWED: Decision = { verdict: 'allowed', because: 'See things' };
  const DENIED: Decision = { verdict: 'denied', missing: ["View user's profile", 'See more'] };
  const DELEGATED: Decision = { verdict: 'delegated', because: 'ownership' };

  describe('a decision in the trace', () => {
    it.each([
      [ALLOWED, 'enforce', 'passed'],
      [DENIED, 'enforce', 'refused'],
      [DENIED, 'report', 'reported'],
      [DELEGATED, 'enforce', 'skipped'],
    ] as const)('%o at %s is %s', (decision, level, outcome) => {
      const trace = traceWith();
      traceDecision(trace, level, decision);
      expect(trace.permissions).toMatchObject({ level, outcome, decision });
    });

    it('is a request violation if it denies, at the permission that is closest to sufficient', () => {
      const trace = traceWith();
      traceDecision(trace, 'report', DENIED);
      expect(trace.violations).toEqual([
        {
          check: 'permissions',
          direction: 'request',
          category: 'semantic',
          location: 'header',
          at: "View user's profile",
          keyword: 'permission-denied',
          schemaPath: '',
          message: 'The roles file denies this request.',
        },
      ]);
    });

    it('is a request violation at all alternatives if any of them would suffice', () => {
      const trace = traceWith();
      const missing = ['admin', 'superuser'];
      traceDecision(trace, 'report', { verdict: 'denied', missing, alternatives: missing });
      expect(trace.violations).toMatchObject([{ keyword: 'permission-denied', at: 'admin or superuser' }]);
    });

    it('is not a violation if it allows or leaves the decision to the upstream', () => {
      const trace = traceWith();
      for (const decision of [ALLOWED, DELEGATED]) traceDecision(trace, 'enforce', decision);
      expect(trace.violations).toEqual([]);
    });
  });

  describe('a mismatch of two verdicts', () => {
    it('names who denied', () => {
      expect(permissionMismatch(true)).toMatchObject({ category: 'permission-mismatch', keyword: 'upstream-denied' });
      expect(permissionMismatch(false)).toMatchObject({ direction: 'response', keyword: 'upstream-allowed' });
    });
  });
});

describe('a permission denial', () => {
  const isMessage = (message: string) => message.includes('permission');
  const denies = (status: number, body: string) =>
    isPermissionDenial(operationWith(), { status, headers: [], body: Buffer.from(body) }, isMessage);

  it.each([
    [401, '{"error":"no permission"}', true],
    [401, '{"errors":{"message":"no permission"}}', true],
    [403, '{"error":"no permission"}', true],
    [403, '{"error":"whatever"}', true],
    [401, '{"error":"whatever"}', false],
    [401, '', false],
    [403, '<html>', false],
    [400, '{"error":"no permission"}', false],
    [200, '{"error":"no permission"}', false],
  ])('includes %i %s: %s', (status, body, expected) => {
    expect(denies(status, body)).toBe(expected);
  });

  // If attachments are disabled, operation 3 also returns its documented 403.
  it.each([
    [403, '{"error":"Disabled or no permission."}', false],
    [401, '{"errors":{"message":"Disabled<br>or no permission."}}', false],
    [403, '{"error":"whatever"}', false],
    [403, '{"error":"no permission"}', true],
    [401, '{"errors":{"message":"no permission"}}', true],
  ])('excludes a documented denial that has other causes: %i %s: %s', (status, body, expected) => {
    const causes = ['permission-denied', 'feature-disabled'];
    const documentedErrors = [{ status: 403, text: 'Disabled or no permission.', causes }];
    const response = { status, headers: [], body: Buffer.from(body) };
    expect(isPermissionDenial(operationWith({ documentedErrors }), response, isMessage)).toBe(expected);
    const onlyPermission = [{ status: 403, text: 'Disabled or no permission.', causes: ['permission-denied'] }];
    expect(
      isPermissionDenial(operationWith({ documentedErrors: onlyPermission }), { ...response, status: 403 }, isMessage),
    ).toBe(true);
  });
});

const answer = (body: string, status = 200): ExchangedResponse => ({
  status,
  headers: JSON_TYPE,
  body: Buffer.from(body),
  attempts: 1,
});

const found = (given: ExchangedResponse | Promise<ExchangedResponse>) =>
  createLookup(fakeExchanges(() => given).upstream)('/a.json', callerNamed('alice'));

describe('a lookup', () => {
  it("sends the caller's own credential, and none for an anonymous caller", async () => {
    const { upstream, sent } = fakeExchanges(() => answer('{"id":1}'));
    const lookUp = createLookup(upstream);
    expect(await lookUp('/a.json', callerNamed('alice'))).toEqual({ id: 1 });
    await lookUp('/a.json', ANONYMOUS);
    expect(sent).toMatchObject([
      { method: 'GET', target: '/a.json', mode: 'buffered' },
      {
        headers: [
          ['Accept', 'application/json'],
          ['Content-Type', 'application/json'],
        ],
      },
    ]);
    expect(sent[0]?.headers).toContainEqual(['Authorization', 'Basic alice']);
  });

  it('decides nothing if it fails', async () => {
    expect(await found(Promise.reject(new UpstreamFailure('deadline')))).toBeUndefined();
    expect(await found(answer('{"id":1}', 404))).toBeUndefined();
    expect(await found(answer('<html>'))).toBeUndefined();
  });
});
