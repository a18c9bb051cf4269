import { hash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import {
  type Arbitrary,
  array,
  assert as check,
  asyncProperty,
  boolean,
  constantFrom,
  integer,
  record,
  tuple,
} from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { exampleOf } from '../builders/contract-examples.ts';
import { basic, type ClientResponse } from '../builders/call.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { type FakeHandler, type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { fastRoles, type RolesAccount } from '../builders/fast-roles.ts';
import { knowing } from '../builders/knowing-upstream.ts';
import { operationOf, OPERATIONS, targetOf } from '../builders/operations.ts';
import { propertyRuns } from '../builders/property-runs.ts';
import { createTestClock, type TestClock } from '../builders/test-clock.ts';
import { ownPassword, startTestGateway, type TestGateway } from '../builders/test-gateway.ts';
import { operation } from '../engine/contract/sample.ts';

/*
 * No caller may ever receive a response that was fetched for a caller from another audience. The upstream marks each
 * response with the credential used to fetch it. A simple model of the rules determines which marks a caller may see.
 */

/** The operations whose responses are stored by default, and one that only the configuration stores. */
const LISTS: readonly string[] = [
  ...OPERATIONS.filter(({ cached }) => cached === true).map(({ id }) => id),
  'listNodeComments',
];

/** The operations that may be called with the service account instead of the caller's credential. */
const INDEPENDENT: ReadonlySet<string> = new Set(LISTS.filter((id) => operation(id).identityIndependent));
const QUERIES = ['', 'page=2', 'q=a%20b'] as const;

const TWINS: RolesAccount[] = [
  { name: 'alicia', roles: ['standard', 'custom', 'private comments'], groups: ['Champions', 'Beta Testers'] },
  { name: 'bobby', roles: ['standard', 'custom'], groups: ['Beta Testers', 'Newcomers'] },
  { name: 'plain', roles: ['anonymous'] },
];
/** The class of each caller. All callers in a class have the same roles, groups and flags. */
const CLASSES: Readonly<Record<string, string>> = {
  alice: 'private comments',
  alicia: 'private comments',
  bob: 'standard',
  bobby: 'standard',
  moderator: 'moderator',
  admin: 'admin',
  guest: 'newcomer',
  plain: 'anonymous',
  nobody: 'nothing',
};
const MAY_READ_PRIVATE = new Set(['alice', 'alicia', 'moderator', 'admin']);

interface Caller {
  /** The caller's name. Undefined for an anonymous caller. */
  readonly name: string | undefined;
  readonly password: string;
}

const callers: readonly Caller[] = [
  ...Object.keys(CLASSES).map((name) => ({ name, password: ownPassword(name) })),
  { name: undefined, password: '' },
  { name: 'alice', password: 'guessed' },
  { name: 'bob', password: 'guessed' },
  // These callers are not in any roles file, so only an upstream that verifies credentials can accept them.
  { name: 'stranger', password: 'stranger' },
  { name: 'foreigner', password: 'foreigner' },
];

/**
 * Returns the mark for a credential. The mark does not contain the credential itself, because the gateway refuses to
 * share pages that contain a credential.
 */
const markOf = (authorization: string | undefined) =>
  authorization === undefined ? 'none' : hash('sha256', authorization).slice(0, 16);
const ownMarkOf = ({ name, password }: Caller) => markOf(name === undefined ? undefined : basic(name, password));

/** One request in a sequence. */
interface Asking {
  readonly caller: Caller;
  readonly id: string;
  readonly query: string;
  readonly method: 'GET' | 'HEAD';
  /** True if the request sends an entity tag from an earlier response, which may have been sent to another caller. */
  readonly conditional: boolean;
  readonly leaves: boolean;
}

/** A group of concurrent requests, and the circumstances under which they are sent. */
interface Step {
  readonly before: 'nothing' | 'seconds' | 'half a minute' | 'minutes' | 'a write' | 'a purge';
  readonly upstreamFails: boolean;
  readonly delays: readonly number[];
  readonly asking: readonly Asking[];
}

const asking: Arbitrary<Asking> = record({
  caller: constantFrom(...callers),
  id: constantFrom(...LISTS),
  query: constantFrom(...QUERIES.slice(0, 2)),
  method: constantFrom('GET', 'GET', 'GET', 'HEAD'),
  conditional: boolean(),
  leaves: integer({ min: 0, max: 9 }).map((number) => number === 0),
});
/** Most sequences concentrate on one list, so that callers often request the same page. */
const focused = tuple(
  constantFrom(...LISTS),
  constantFrom(...QUERIES),
  array(asking, { minLength: 3, maxLength: 9 }),
).map(([id, query, all]) => all.map((one, index) => (index % 4 === 3 ? one : { ...one, id, query })));
const step: Arbitrary<Step> = record({
  before: constantFrom('nothing', 'nothing', 'nothing', 'seconds', 'half a minute', 'minutes', 'a write', 'a purge'),
  upstreamFails: integer({ min: 0, max: 5 }).map((number) => number === 0),
  delays: array(integer({ min: 0, max: 6 }), { minLength: 8, maxLength: 8 }),
  asking: focused,
});
const sequence = array(step, { minLength: 2, maxLength: 6 });

const SECONDS = { nothing: 0, seconds: 7, 'half a minute': 31, minutes: 100, 'a write': 0, 'a purge': 0 };

/** The gateway's settings, and how they affect which marks a caller may see. */
interface World {
  readonly name: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly real?: boolean;
  readonly random?: () => number;
  readonly audience: (id: string) => 'caller' | 'permissions' | 'public';
  readonly service?: boolean;
  /** True if a wrong password is reported but not refused. */
  readonly lenient?: boolean;
}

const shared = (audienceOf: World['audience'], service: boolean) =>
  Object.fromEntries(
    LISTS.map((id) => {
      const audience = audienceOf(id);
      const sharing = audience === 'caller' ? {} : { audience, ...(!service && { assumeImpersonal: true }) };
      return [id, { cache: { enabled: true, ...sharing } }];
    }),
  );
const robot = { upstream: { credentials: { kind: 'service', username: 'robot', password: 'robot' } } };
const anonymous = { anonymous: 'allow' };
const alternating = (id: string) => (LISTS.indexOf(id) % 2 === 0 ? 'public' : 'permissions');
const independentOnly = (id: string) => (INDEPENDENT.has(id) ? alternating(id) : 'caller');
const always =
  <T>(value: T) =>
  (): T =>
    value;
const permissionsAudience = always<'permissions'>('permissions');
const publicAudience = always<'public'>('public');

const WORLDS: readonly World[] = [
  {
    name: 'audience caller',
    config: { authentication: anonymous, operations: shared(always('caller'), false) },
    audience: always('caller'),
  },
  {
    name: 'audience permissions, assumeImpersonal',
    config: { authentication: anonymous, cache: { sampleShared: 0 }, operations: shared(permissionsAudience, false) },
    audience: permissionsAudience,
  },
  {
    name: 'audience public, assumeImpersonal, sometimes compared',
    config: { authentication: anonymous, cache: { sampleShared: 0.1 }, operations: shared(publicAudience, false) },
    audience: publicAudience,
  },
  {
    name: 'a service account, public and permissions',
    config: { ...robot, authentication: anonymous, operations: shared(independentOnly, true) },
    audience: independentOnly,
    service: true,
  },
  {
    name: 'authentication report, public and permissions',
    config: {
      mode: 'staging',
      checks: { authentication: 'report' },
      cache: { sampleShared: 0 },
      authentication: anonymous,
      operations: shared(alternating, false),
    },
    audience: alternating,
    lenient: true,
  },
  {
    name: 'verifier upstream, unknown callers delegated, permissions and public',
    config: {
      mode: 'strict',
      authentication: anonymous,
      cache: { sampleShared: 0 },
      operations: shared(alternating, false),
    },
    real: true,
    audience: alternating,
  },
  {
    name: 'verifier upstream, unknown callers delegated, a service account',
    config: { ...robot, mode: 'strict', authentication: anonymous, operations: shared(independentOnly, true) },
    real: true,
    audience: independentOnly,
    service: true,
  },
];

/** Returns the example response of a list, with the mark added to it. */
function marked(id: string, mark: string): unknown {
  const body = exampleOf(id);
  if (id === 'listNodeComments')
    return (body as unknown as object[]).map((comment) => Object.assign(comment, { title: mark }));
  if (id === 'listAnswerComments')
    Object.assign(body.list[0], { visibility: 'recipients', recipients: [{ id: 7, name: 'Staff', type: 'group' }] });
  return { ...body, name: mark };
}

const markIn = (response: ClientResponse) => /mark<([^>]*)>/.exec(response.text)?.[1];

describe.each(WORLDS)('with $name', (world) => {
  let fake: FakeUpstream;
  let gateway: TestGateway;
  let clock: TestClock;
  let failing = false;
  let delays: number[] = [];

  const respond: FakeHandler = async (request) => {
    const wait = delays.shift() ?? 0;
    for (let turns = 0; turns < wait; turns++) await turn();
    if (failing) return { status: 500 };
    const id = LISTS.find((one) => targetOf(operationOf(one)) === request.path);
    if (id === undefined) return exampleResponse(request);
    return { json: marked(id, `mark<${markOf(request.headers.authorization)}>`) };
  };

  beforeAll(async () => {
    clock = createTestClock();
    fake = await startFakeUpstream(world.real ? knowing(respond) : respond);
    const { config, real = false, random } = world;
    const roles = await fastRoles(TWINS);
    gateway = await startTestGateway({
      upstream: fake,
      clock,
      config,
      roles,
      real,
      keepAccounts: true,
      ...(random && { random }),
    });
  });

  const isVerified = ({ name, password }: Caller) =>
    name !== undefined && password === ownPassword(name) && (name in CLASSES || world.real === true);
  const classOf = (caller: Caller) =>
    caller.name === undefined ? 'anonymous' : isVerified(caller) ? CLASSES[caller.name] : undefined;

  /**
   * Returns whether a caller may read private fields. This includes callers that are known only to the
   * upstream, if it has accepted them.
   */
  const mayReadPrivate = (caller: Caller) =>
    isVerified(caller) && (MAY_READ_PRIVATE.has(caller.name ?? '') || classOf(caller) === undefined);

  /** Returns whether the rules allow this caller to see a response fetched with the credential identified by `mark`. */
  function mayServe(caller: Caller, id: string, mark: string): boolean {
    const isOwn = mark === ownMarkOf(caller);
    const kind = classOf(caller);
    // Unverified callers, and callers known only to the upstream, do not share responses and never use the service
    // account.
    if (kind === undefined) return isOwn;
    if (world.service === true && INDEPENDENT.has(id)) return mark === markOf(basic('robot'));
    const audience = world.audience(id);
    if (audience === 'caller') return isOwn;
    const fetcher = callers.find((one) => ownMarkOf(one) === mark);
    const other = fetcher === undefined ? undefined : classOf(fetcher);
    return isOwn || (other !== undefined && (audience === 'public' || other === kind));
  }

  async function ask(one: Asking, tags: Map<string, string>): Promise<void> {
    const { caller, id, query, method, conditional, leaves } = one;
    const [tag] = conditional ? [...tags.keys()].slice(-1) : [];
    const leaving = new AbortController();
    const target = targetOf(operationOf(id), query);
    const call = gateway.call(target, {
      user: caller.name ?? null,
      password: caller.password,
      method,
      headers: { ...(tag !== undefined && { 'If-None-Match': tag }) },
      ...(leaves && { signal: leaving.signal }),
    });
    if (leaves) {
      await turn();
      leaving.abort();
    }
    const got = await call.catch(() => undefined);
    if (got === undefined) return;
    const who = `${caller.name ?? 'anonymous'}:${caller.password} on ${target}`;
    const mark = got.status === 304 ? tags.get(got.headers.etag ?? '') : markIn(got);
    if (got.status === 200 && method === 'GET') {
      expect(mark, who).toBeDefined();
      const hasPrivate = got.text.includes('"recipients"');
      if (hasPrivate) expect(mayReadPrivate(caller), `${who} reads private fields`).toBe(true);
      if (got.headers.etag !== undefined) tags.set(got.headers.etag, mark ?? '');
    }
    if (got.status >= 400) {
      expect(got.text, `${who}: an error shows a marked response`).not.toContain('mark<');
      return;
    }
    expect(caller.name, 'one without any permission gets nothing').not.toBe('nobody');
    if (world.lenient !== true && caller.name !== undefined) expect(isVerified(caller), `${who} was let in`).toBe(true);
    if (mark !== undefined) expect(mayServe(caller, id, mark), `${who} got what ${mark} fetched`).toBe(true);
  }

  async function take(
    { before, upstreamFails, delays: waits, asking: all }: Step,
    tags: Map<string, string>,
  ): Promise<void> {
    failing = false;
    clock.advance(SECONDS[before]);
    if (before === 'a write')
      await gateway.call(targetOf(operationOf('cancelWiki')), { method: 'PUT', user: 'moderator' });
    if (before === 'a purge') await gateway.admin('/cache/purge', { method: 'POST', body: { all: true } });
    failing = upstreamFails;
    delays = [...waits];
    // The requests are sent in two waves, so that the second wave can receive pages fetched for the first.
    const half = Math.ceil(all.length / 2);
    await Promise.all(all.slice(0, half).map((one) => ask(one, tags)));
    await Promise.all(all.slice(half).map((one) => ask(one, tags)));
  }

  // If pages were never shared, the random sequences below would prove nothing.
  it('callers share a stored page exactly if they belong to the same audience', async () => {
    const resultFor = async (user: string) => {
      const { status, headers } = await gateway.call(targetOf(operationOf('listIdeas'), 'q=shared'), { user });
      return [user, status, String(headers['cache-status']).includes('; hit')];
    };
    const audience = world.audience('listIdeas');
    expect(await resultFor('alice')).toEqual(['alice', 200, false]);
    expect(await resultFor('alice')).toEqual(['alice', 200, true]);
    expect(await resultFor('alicia')).toEqual(['alicia', 200, audience !== 'caller']);
    expect(await resultFor('bob')).toEqual(['bob', 200, audience === 'public']);
  });

  it('no caller gets a response whose credential belongs to another audience', async () => {
    await check(
      asyncProperty(sequence, async (steps) => {
        const tags = new Map<string, string>();
        for (const one of steps) await take(one, tags);
        failing = false;
      }),
      { numRuns: propertyRuns(10), endOnFailure: true },
    );
    // If pages were never served from the cache, the test would prove nothing.
    const results = ['hit', 'stale', 'coalesced'];
    const series = LISTS.flatMap((id) => results.map((result) => `operation="${id}",result="${result}"`));
    const { text } = await gateway.admin('/metrics');
    const counts = series.map((labels) =>
      Number(text.split(`portico_cache_requests_total{${labels}} `)[1]?.split('\n')[0] ?? 0),
    );
    expect(counts.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(5);
  });
});
