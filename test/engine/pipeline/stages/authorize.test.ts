import { createSessions } from '../../../../src/engine/upstream/sessions.ts';
import { describe, expect, it } from 'vitest';
import { findOwner } from '../../../../src/profile/ownership.ts';
import { GatewayError } from '../../../../src/engine/errors/gateway-error.ts';
import { ANONYMOUS, type Principal } from '../../../../src/engine/model/principal.ts';
import type { Decision, Requirement } from '../../../../src/engine/model/operation.ts';
import { UpstreamFailure } from '../../../../src/engine/model/upstream-failure.ts';
import { compilePermissions } from '../../../../src/engine/permissions/compile-permissions.ts';
import { createOwnership } from '../../../../src/engine/permissions/ownership.ts';
import { PERMISSIONS_DEFAULTS } from '../../../../src/engine/permissions/permissions-options.ts';
import type { RolesFile, UnmappedPolicy } from '../../../../src/engine/permissions/roles-file.ts';
import { authorize } from '../../../../src/engine/pipeline/stages/authorize.ts';
import { createDecide } from '../../../../src/engine/pipeline/decide-request.ts';
import { createLookup } from '../../../../src/engine/pipeline/owner-lookup.ts';
import { permissionMismatch, traceDecision } from '../../../../src/engine/pipeline/permission-verdict.ts';
import { permissionRefusal } from '../../../../src/engine/pipeline/permission-refusal.ts';
import type { ExchangedResponse } from '../../../../src/engine/upstream/create-upstream.ts';
import {
  callerNamed,
  createNext,
  exchangeWith,
  failureOf,
  JSON_TYPE,
  operationWith,
  type PlannedParts,
  plannedWith,
  replyWith,
  stageIn,
  traceWith,
} from '../../../builders/exchange.ts';
import { fakeExchanges } from '../../../builders/fake-exchanges.ts';
import { createTestClock } from '../../../builders/test-clock.ts';

const ALLOWED: Decision = { verdict: 'allowed', because: 'See things' };
const DENIED: Decision = { verdict: 'denied', missing: ['See things', 'See more'] };
const DELEGATED: Decision = { verdict: 'delegated', because: 'ownership' };
const CHALLENGE = 'Basic realm="test"';

function authorized(decision: Decision | Promise<Decision>, parts: PlannedParts = {}, next = createNext()) {
  const handle = stageIn(
    authorize(() => decision, CHALLENGE),
    plannedWith(parts),
    next,
  );
  return { handle, next };
}

const mismatches = ({ violations }: ReturnType<typeof traceWith>) =>
  violations.filter(({ category }) => category === 'permission-mismatch');

const report: PlannedParts = { checks: { permissions: 'report' } };

describe('authorize', () => {
  it('has no work if permissions are off, but has some for operations without requirements', () => {
    const stage = authorize(() => ALLOWED, CHALLENGE);
    expect(stage.plan(plannedWith({ checks: { permissions: 'off' } }))).toBeUndefined();
    expect(stage.plan(plannedWith({ operation: { requires: undefined } }))).toBeDefined();
  });

  it('admits an allowed caller and records why', async () => {
    const { handle, next } = authorized(ALLOWED);
    const exchange = exchangeWith();
    await handle(exchange);
    expect(exchange.trace.permissions).toEqual({ level: 'enforce', outcome: 'passed', decision: ALLOWED });
    expect(next.asked).toEqual([exchange]);
  });

  it('refuses a denied caller before sending a request', async () => {
    const { handle, next } = authorized(DENIED);
    const exchange = exchangeWith();
    expect(await failureOf(handle(exchange))).toMatchObject({ code: 'permission_denied', status: 403 });
    expect(next.asked).toEqual([]);
    expect(exchange.trace.permissions).toMatchObject({ level: 'enforce', outcome: 'refused', decision: DENIED });
  });

  it('waits for a decision that needs a lookup', async () => {
    const { handle, next } = authorized(Promise.resolve(DENIED));
    await failureOf(handle(exchangeWith()));
    expect(next.asked).toEqual([]);
  });

  it('admits a denied caller at the `report` level, and reports it', async () => {
    const { handle, next } = authorized(DENIED, report);
    const exchange = exchangeWith();
    await handle(exchange);
    expect(exchange.trace.permissions).toMatchObject({ level: 'report', outcome: 'reported' });
    expect(next.asked).toHaveLength(1);
  });

  it("sends the caller's own credential if only the upstream can decide", async () => {
    const { handle, next } = authorized(DELEGATED);
    const exchange = exchangeWith();
    await handle(exchange);
    expect(next.asked[0]?.delegated).toBe(true);
    expect(exchange.trace.permissions).toMatchObject({ outcome: 'skipped', reason: 'delegated: ownership' });
  });

  it('keeps the delegation of a caller without a mapping even if nothing is required', async () => {
    const { handle, next } = authorized(ALLOWED);
    await handle(exchangeWith({ delegated: true }));
    expect(next.asked[0]?.delegated).toBe(true);
  });
});

const upstream = (denied: boolean, status = denied ? 403 : 200) => ({
  status,
  shape: 'answer',
  denied,
  seconds: 0,
  attempts: 1,
});

describe('two verdicts on one caller', () => {
  it("are a mismatch if the upstream denies what Portico's rules allow", async () => {
    const { handle } = authorized(
      ALLOWED,
      {},
      createNext(() => Promise.reject(new GatewayError('upstream_permission_denied', 'no'))),
    );
    const trace = traceWith({ upstream: upstream(true) });
    await failureOf(handle(exchangeWith({ trace })));
    expect(trace.violations).toMatchObject([
      { category: 'permission-mismatch', keyword: 'upstream-denied', direction: 'response' },
    ]);
  });

  it("are a mismatch if the upstream allows what Portico's rules deny", async () => {
    const { handle } = authorized(DENIED, report);
    const trace = traceWith({ upstream: upstream(false) });
    await handle(exchangeWith({ trace }));
    expect(trace.violations).toMatchObject([{ keyword: 'permission-denied' }, { keyword: 'upstream-allowed' }]);
  });

  it('are not a mismatch if both deny or both allow', async () => {
    const both = traceWith({ upstream: upstream(true) });
    await authorized(DENIED, report, createNext(replyWith({}, { status: 403 }))).handle(exchangeWith({ trace: both }));
    const neither = traceWith({ upstream: upstream(false) });
    await authorized(ALLOWED).handle(exchangeWith({ trace: neither }));
    expect([mismatches(both), mismatches(neither)]).toEqual([[], []]);
  });

  it('are not a mismatch if the upstream failed for another reason', async () => {
    const { handle } = authorized(DENIED, report, createNext(replyWith({}, { status: 400 })));
    const trace = traceWith({ upstream: upstream(false, 400) });
    await handle(exchangeWith({ trace }));
    expect(mismatches(trace)).toEqual([]);
  });

  it('are not a mismatch if the upstream may have withheld something private', async () => {
    const parts: PlannedParts = { operation: { mayBePrivate: true } };
    const denied = traceWith({ upstream: upstream(true) });
    const refusing = createNext(() => Promise.reject(new GatewayError('upstream_permission_denied', 'no')));
    await failureOf(authorized(ALLOWED, parts, refusing).handle(exchangeWith({ trace: denied })));
    const allowed = traceWith({ upstream: upstream(false) });
    await authorized(DENIED, { ...parts, ...report }).handle(exchangeWith({ trace: allowed }));
    expect([mismatches(denied).length, mismatches(allowed).map(({ keyword }) => keyword)]).toEqual([
      0,
      ['upstream-allowed'],
    ]);
  });

  it('are not a mismatch if the upstream received no request', async () => {
    const exchange = exchangeWith();
    await authorized(DENIED, report).handle(exchange);
    expect(mismatches(exchange.trace)).toEqual([]);
  });

  it('are not a mismatch if the decision was left to the upstream', async () => {
    const trace = traceWith({ upstream: upstream(true) });
    await authorized(DELEGATED).handle(exchangeWith({ trace }));
    expect(trace.violations).toEqual([]);
  });
});

describe('the refusal of a caller', () => {
  it('names every missing permission to a caller with a credential, without a challenge', () => {
    const error = permissionRefusal(operationWith(), exchangeWith(), ['See things', 'See more'], CHALLENGE);
    expect(error).toMatchObject({ status: 403, headers: {} });
    expect(error.details.map(({ permission }) => permission)).toEqual(['See things', 'See more']);
    expect(error.message).toContain('See things');
  });

  it('is a challenge to a caller without a credential', () => {
    expect(
      permissionRefusal(operationWith(), exchangeWith({ principal: ANONYMOUS }), ['See things'], CHALLENGE),
    ).toMatchObject({
      status: 401,
      code: 'credentials_required',
      headers: { 'WWW-Authenticate': CHALLENGE },
      details: [{ permission: 'See things' }],
    });
  });

  // Without a challenge, a client with a made-up name would receive a 403. The 403 would reveal that only a permission
  // is missing, and a browser would not prompt for a credential with that permission.
  it('is a challenge if the credential is unverified', () => {
    const claimed = exchangeWith({ principal: callerNamed('alice', { kind: 'unverified' }) });
    expect(permissionRefusal(operationWith(), claimed, ['See things'], CHALLENGE)).toMatchObject({
      status: 401,
      code: 'credentials_required',
      headers: { 'WWW-Authenticate': CHALLENGE },
    });
  });

  it.each([
    [
      { any: [{ flag: 'a' }, { flag: 'b' }] },
      ['a', 'b'],
      'the flag "a" or the flag "b"',
      [{ flag: 'a' }, { flag: 'b' }],
    ],
    [
      { all: [{ permission: 'a' }, { group: 'b' }] },
      ['a', 'b'],
      'the permission "a" and the group "b"',
      [{ permission: 'a' }, { group: 'b' }],
    ],
    [{ all: [{ permission: 'a' }, { group: 'b' }] }, ['b'], 'the group "b"', [{ group: 'b' }]],
    [{ any: [{ permission: 'a' }, { own: { permission: 'b' } }] }, ['a'], 'the permission "a"', [{ permission: 'a' }]],
  ] as const)('describes what is missing of %j: %j', (requires, missing, words, kinds) => {
    const { message, details } = permissionRefusal(operationWith({ requires }), exchangeWith(), missing, CHALLENGE);
    expect(message).toBe(`You need ${words} to do this.`);
    const text = expect.any(String) as string;
    expect(details).toEqual(kinds.map((kind) => Object.assign({ message: text }, kind)));
  });

  it('has no name for a requirement that is not a permission, a group or a flag', () => {
    const { details } = permissionRefusal(operationWith(), exchangeWith(), ['ownership of the node'], CHALLENGE);
    expect(details).toEqual([{ message: 'ownership of the node is required' }]);
  });

  it('has the documented text if the specification defines one', () => {
    const operation = operationWith({ documentedErrors: [{ status: 403, text: 'Attachments is disabled' }] });
    expect(permissionRefusal(operation, exchangeWith(), ['x'], CHALLENGE).message).toBe('Attachments is disabled');
  });
});

const atOnce = (decision: Decision, parts: PlannedParts = {}) => {
  const reply = replyWith({});
  const handle = authorize(() => decision, CHALLENGE).plan(plannedWith(parts))?.(() => reply);
  if (handle === undefined) throw new Error('no work');
  return { reply, handle };
};

describe('authorize before a synchronous reply', () => {
  it('replies synchronously', () => {
    const { handle, reply } = atOnce(ALLOWED);
    const exchange = exchangeWith();
    expect(handle(exchange)).toBe(reply);
    expect(exchange.trace.permissions).toMatchObject({ outcome: 'passed' });
  });

  it('refuses synchronously, before the following stages run', () => {
    const handle = authorize(() => DENIED, CHALLENGE).plan(plannedWith())?.(() => {
      throw new Error('asked');
    });
    expect(() => handle?.(exchangeWith())).toThrow(GatewayError);
  });

  it('decides for each caller separately', () => {
    const reply = replyWith({});
    const handle = authorize(
      (_planned, { principal }) => (principal.name === 'alice' ? ALLOWED : DENIED),
      CHALLENGE,
    ).plan(plannedWith())?.(() => reply);
    const bob = exchangeWith({ principal: { ...exchangeWith().principal, name: 'bob' } });
    for (let times = 0; times < 3; times += 1) {
      expect(handle?.(exchangeWith())).toBe(reply);
      expect(() => handle?.(bob)).toThrow('See things');
    }
  });

  it('finds no mismatch, because the upstream has not responded', () => {
    const { handle, reply } = atOnce(DENIED, report);
    const exchange = exchangeWith();
    expect(handle(exchange)).toBe(reply);
    expect(exchange.trace.permissions).toMatchObject({ outcome: 'reported' });
    expect(mismatches(exchange.trace)).toEqual([]);
  });
});

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

describe('permission violations', () => {
  const PROFILE_DENIED: Decision = { verdict: 'denied', missing: ["View user's profile", 'See more'] };

  describe('a decision in the trace', () => {
    it.each([
      [ALLOWED, 'enforce', 'passed'],
      [PROFILE_DENIED, 'enforce', 'refused'],
      [PROFILE_DENIED, 'report', 'reported'],
      [DELEGATED, 'enforce', 'skipped'],
    ] as const)('%o at %s is %s', (decision, level, outcome) => {
      const trace = traceWith();
      traceDecision(trace, level, decision);
      expect(trace.permissions).toMatchObject({ level, outcome, decision });
    });

    it('is a request violation if it denies, at the permission that is closest to sufficient', () => {
      const trace = traceWith();
      traceDecision(trace, 'report', PROFILE_DENIED);
      expect(trace.violations).toEqual([
        {
          check: 'permissions',
          direction: 'request',
          category: 'permission',
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

const exchanged = (body: string, status = 200): ExchangedResponse => ({
  status,
  headers: JSON_TYPE,
  body: Buffer.from(body),
  attempts: 1,
});

const found = (given: ExchangedResponse | Promise<ExchangedResponse>) =>
  createLookup(
    fakeExchanges(() => given).upstream,
    createSessions([], () => 1_000),
  )('/a.json', callerNamed('alice'));

describe('a lookup', () => {
  it("sends the caller's own credential, and none for an anonymous caller", async () => {
    const { upstream: fake, sent } = fakeExchanges(() => exchanged('{"id":1}'));
    const lookUp = createLookup(
      fake,
      createSessions([], () => 1_000),
    );
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
    expect(await found(exchanged('{"id":1}', 404))).toBeUndefined();
    expect(await found(exchanged('<html>'))).toBeUndefined();
  });
});
