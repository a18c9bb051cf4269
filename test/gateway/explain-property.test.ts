import { levelsIn } from '../builders/levels-in.ts';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ExplainStep } from '../../src/engine/pipeline/explain.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { knowing, PROBE } from '../builders/knowing-upstream.ts';
import { EXAMPLE_IDS, OPERATIONS } from '../builders/operations.ts';
import { propertyRuns, seedPropertyTests } from '../builders/property-runs.ts';
import { createTestClock } from '../builders/test-clock.ts';
import { ownPassword, startTestGateway, type TestGateway } from '../builders/test-gateway.ts';

seedPropertyTests();

const CHECKS = ['authentication', 'requests', 'responses', 'permissions', 'pageBounds', 'undocumented'] as const;
const LEVELS = ['off', 'report', 'enforce'] as const;
const LIST = '/services/v2/question.json';

/** The pages of the lists. The caller learns of them from the responses. */
const PAGE_COUNT = 3;

/** A gateway's settings. */
interface Setup {
  readonly config: Record<string, unknown>;
  readonly real: boolean;
}

/** A request and what happens before it. */
interface Request {
  readonly method: string;
  readonly target: string;
  readonly user: string | null;
  readonly body: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** How many seconds pass before the request. Stored pages become stale after 30 seconds. */
  readonly seconds: number;
  /** The operation that an operator disables before the request. */
  readonly disable: string | undefined;
  /** How many times the request is sent. */
  readonly times: number;
}

const level = fc.constantFrom(...LEVELS);
const sometimes = <T>(value: fc.Arbitrary<T>, weight = 10) =>
  fc.oneof({ arbitrary: value, weight }, { arbitrary: fc.constant(undefined), weight: 20 });

const allow = fc.subarray([
  { method: 'GET', path: '/services/v2/export/{id}.json', permission: 'View analytics' },
  { method: 'POST', path: '/services/v2/question.json' },
  { method: '*', path: '/services/v2/internal/**', permission: 'View list idea' },
]);

const rateLimits = fc.subarray([
  { name: 'few', requests: 4, windowSeconds: 3600, per: 'caller' },
  { name: 'questions', requests: 2, windowSeconds: 3600, per: 'network', operations: ['listQuestions'] },
  { name: 'guests', requests: 1, windowSeconds: 3600, per: 'role', roles: ['anonymous', 'standard'] },
]);

const deprecated = fc.subarray([
  {
    operations: ['listIdeas', 'listExpertise', 'listTopicFollowers'],
    since: '2026-01-01',
    sunset: '2026-02-01',
    refuseAfterSunset: true,
  },
  {
    operations: ['listQuestions', 'listArticles'],
    parameter: 'sort',
    since: '2026-01-01',
    brownouts: [{ from: '2026-02-01', to: '2999-01-01' }],
  },
  { operations: ['listNodeComments'], since: '2026-01-01', brownouts: [{ from: '2026-02-01', to: '2999-01-01' }] },
]);

const defined = (values: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));

const setups: fc.Arbitrary<Setup> = fc
  .record({
    mode: fc.constantFrom('observe', 'staging', 'strict'),
    real: fc.boolean(),
    checks: sometimes(fc.record(Object.fromEntries(CHECKS.map((name) => [name, level])), { requiredKeys: [] })),
    own: sometimes(
      fc.dictionary(
        fc.constantFrom(...OPERATIONS.filter(({ inferred }) => inferred !== true).map(({ id }) => id)),
        fc.record({ checks: fc.record({ requests: level, pageBounds: level }, { requiredKeys: [] }) }),
      ),
    ),
    allow: sometimes(allow),
    rateLimits: sometimes(rateLimits),
    deprecated: sometimes(deprecated, 20),
    anonymous: fc.constantFrom('allow', 'deny'),
    inferred: fc.constantFrom('on', 'off'),
    cache: fc.boolean(),
    maxPageSize: fc.constantFrom(20, 100),
    errors: sometimes(fc.constantFrom('legacy', 'normalized')),
    unmapped: sometimes(fc.constantFrom('deny', 'standard')),
    tracker: fc.boolean(),
  })
  .map(({ mode, real, checks, own, allow: entries, anonymous, cache, maxPageSize, errors, ...rest }) => ({
    real,
    config: defined({
      mode,
      checks: checks && defined(checks),
      operations: own,
      errors,
      rateLimits: rest.rateLimits,
      deprecation: rest.deprecated && { file: ':memory:', entries: rest.deprecated },
      authentication: defined({ anonymous, verifier: real ? 'upstream' : 'file' }),
      contract: { inferred: rest.inferred === 'on' },
      undocumented: entries && { allow: entries },
      // A transparent gateway has no cache, and says so if it is told to use one. Refreshes in the background would
      // change the state at any time, so they are tested separately.
      cache: mode === 'observe' ? undefined : { enabled: cache, staleWhileRevalidateSeconds: 0 },
      pageBounds: { maxPageSize },
      issueTracker: { enabled: rest.tracker },
      logging: { level: 'fatal' },
    }),
  }));

const ids = fc.constantFrom(EXAMPLE_IDS, { ...EXAMPLE_IDS, node: 'abc', comment: 'abc', job: 'x', user: '7.5' });
const documented = fc
  .tuple(fc.constantFrom(...OPERATIONS), ids)
  .map(([operation, given]) => ({ method: operation.method, path: operation.target(given), body: operation.body }));
const undocumented = fc
  .tuple(
    fc.constantFrom('GET', 'POST', 'DELETE', 'OPTIONS'),
    fc.constantFrom(
      '/services/v2/export/7.json',
      '/services/v2/internal/a/b',
      '/services/v2/other.json',
      '/services/v2/Question.json',
      '/services/v2/question.json/',
      '/services/v2/question',
      '/services/v2/%71uestion.json',
      '/services/v2/..;/admin',
      '/admin/login',
      LIST,
    ),
  )
  .map(([method, path]) => ({ method, path, body: undefined }));

const numbers = fc.constantFrom('0', '1', '2', '3', '4', '5', '9', '-1', 'x', '', '1.5', '99999999999999999999');
const parameters = fc.oneof(
  numbers.map((text) => `page=${text}`),
  fc.constantFrom('0', '1', '15', '20', '21', '100', '101', 'x').map((text) => `pageSize=${text}`),
  fc.constantFrom('q=a', 'sort=active', 'sort=none', 'colour=red', 'Page=2', 'spaceId=five', 'q=a&q=b', 'wrap=true'),
);

const BODIES = ['', '{}', '{"content":"username\\nalice\\n"}', '{"body":"Hello"}', '{"body":', '[]', 'a=b'];

const requests: fc.Arbitrary<Request> = fc
  .record({
    place: fc.oneof(
      { arbitrary: documented, weight: 6 },
      { arbitrary: fc.constant({ method: 'GET', path: LIST, body: undefined }), weight: 4 },
      { arbitrary: undocumented, weight: 3 },
    ),
    method: sometimes(fc.constantFrom('HEAD', 'GET', 'PUT', 'DELETE', 'PATCH'), 3),
    query: fc.oneof(
      { arbitrary: fc.constant([]), weight: 3 },
      { arbitrary: fc.constantFrom(['page=1'], ['page=2'], ['page=9']), weight: 4 },
      { arbitrary: fc.array(parameters, { minLength: 1, maxLength: 2 }), weight: 4 },
    ),
    user: fc.oneof(
      { arbitrary: fc.constantFrom('alice', 'admin'), weight: 5 },
      { arbitrary: fc.constantFrom('bob', 'moderator', 'guest', 'nobody', 'stranger', null), weight: 4 },
    ),
    ownBody: fc.boolean(),
    body: sometimes(fc.constantFrom(...BODIES), 5),
    type: fc.constantFrom('application/json', 'application/json', 'application/json', 'text/plain'),
    force: fc.boolean(),
    seconds: fc.constantFrom(0, 0, 0, 0, 0, 0, 31, 400),
    disable: sometimes(fc.constantFrom('listQuestions', 'listIdeas'), 1),
    times: fc.constantFrom(1, 1, 2),
  })
  .map(({ place, method, query, user, ownBody, body, type, force, seconds, disable, times }) => {
    const sent = ownBody && place.body !== undefined ? JSON.stringify(place.body) : body;
    return {
      method: method ?? place.method,
      target: query.length === 0 ? place.path : `${place.path}?${query.join('&')}`,
      user,
      body: sent,
      headers: {
        ...(sent === undefined ? {} : { 'Content-Type': type }),
        ...(force ? { 'Portico-Force': 'true' } : {}),
      },
      seconds,
      disable,
      times,
    };
  });

/** The verdicts that must occur. */
const KINDS = [
  'forwarded',
  'forwarded unchanged',
  'served',
  '400 invalid_parameter',
  '400 page_out_of_bounds',
  '400 page_size_out_of_bounds',
  '401 credentials_required',
  '403 permission_denied',
  '404 not_in_contract',
  '405 method_not_allowed',
  '410 gone',
  '429 rate_limited',
  '503 deprecated_brownout',
  '503 operation_disabled',
];

/** Responds as documented, with lists of `PAGE_COUNT` pages. */
function respond(request: Parameters<FakeUpstream['handler']>[0]) {
  const found = exampleResponse(request);
  const { json } = found as { json?: Record<string, unknown> };
  if (json?.['pageCount'] === undefined) return found;
  const page = Number(request.query.get('page') ?? 1);
  return { ...found, json: { ...json, pageCount: PAGE_COUNT, page: Number.isSafeInteger(page) ? page : 1 } };
}

const textOf = (steps: readonly ExplainStep[], wanted: string) => steps.find(({ name }) => name === wanted)?.text ?? '';

/** Returns everything in the gateway that an explanation must leave unchanged. */
async function stateOf({ gateway, log }: TestGateway): Promise<unknown> {
  const { services } = gateway;
  // The ledger is written in batches. A batch written between two readings would look like an effect.
  await services.records.flush();
  const metrics = (await services.metrics.exposition())
    .split('\n')
    .filter((line) => line.startsWith('portico_') && !/_seconds|_bytes|event_loop|scrape|process|uptime/.test(line))
    .join('\n');
  return {
    metrics,
    log: log.length,
    cache: services.cache.stats(),
    counts: services.pageCounts.counts.size,
    failing: services.failingPages.size,
    remembered: gateway.gateway.targets.size,
    ledger: (await services.records.snapshot({ since: 0 })).entries,
  };
}

/** What happened to a request at the upstream, apart from the gateway's own requests. */
const wireOf = ({ method, target }: { method: string; target: string }) => `${method} ${target}`;

describe('the explanation of a request', () => {
  it('is what the gateway then does, and has no effect', async () => {
    const upstream = await startFakeUpstream(knowing(respond));
    const seen = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(
        setups,
        fc.array(requests, { minLength: 15, maxLength: 30, size: 'max' }),
        async (setup, all) => {
          const clock = createTestClock(Date.now());
          let gateway: TestGateway;
          try {
            gateway = await startTestGateway({ upstream, clock, ...setup, keepAccounts: true });
          } catch (error) {
            // Some combinations of settings are refused at startup.
            if ((error as Error).name !== 'StartFault') throw error;
            return;
          }
          try {
            for (const [index, request] of all.entries()) {
              clock.advance(request.seconds);
              if (request.disable !== undefined)
                levelsIn(gateway.gateway).overrides.set(
                  { operation: request.disable, kind: 'disable', reason: 'test', forMinutes: 600 },
                  { name: 'test' } as never,
                );
              // Reading the whole state takes longer than everything else, so it is read for some of the requests.
              for (let sent = 0; sent < request.times; sent += 1) {
                const kind = await compare(gateway, upstream, request, index % 5 === 0);
                seen.set(kind, (seen.get(kind) ?? 0) + 1);
              }
            }
          } finally {
            await gateway.close();
          }
        },
      ),
      { numRuns: propertyRuns(30), endOnFailure: true },
    );
    // Otherwise, the property would not have been tested.
    for (const kind of KINDS) expect(seen.get(kind) ?? 0, kind).toBeGreaterThan(0);
  }, 300_000);
});

/** Explains a request, sends it, and compares the two. Returns the kind of the verdict. */
async function compare(
  gateway: TestGateway,
  upstream: FakeUpstream,
  request: Request,
  readsState: boolean,
): Promise<string> {
  const { method, target, user, body, headers } = request;
  const call = () => gateway.call(target, { method, user, headers, ...(body === undefined ? {} : { body }) });
  // A stranger's credential would be verified anew for every request otherwise; an explanation assumes that it is valid.
  if (user !== null) await gateway.call(PROBE, { method: 'HEAD', user });
  const before = upstream.requests.length;
  const state = readsState ? await stateOf(gateway) : undefined;
  const steps = await gateway.gateway.explain({
    method,
    target,
    ...(user !== null && { as: user, password: ownPassword(user) }),
    headers,
    body,
  });
  expect(upstream.requests.length, 'requests caused by the explanation').toBe(before);
  if (readsState) expect(await stateOf(gateway)).toEqual(state);
  const verdict = textOf(steps, 'verdict');
  const response = await call();
  const received = upstream.requests.slice(before).filter(({ path }) => path !== PROBE || target.startsWith(PROBE));
  const context = `${wireOf(request)} as ${user} ${body ?? ''}\n${steps.map(({ name, text }) => `${name}: ${text}`).join('\n')}\n=> ${response.status} ${response.text.slice(0, 200)} ${received.map(wireOf).join(', ')}`;
  if (verdict.startsWith('undecided')) {
    const [, asked = ''] = /ask the upstream \(([^,)]+)/.exec(verdict) ?? [];
    expect(received.map(wireOf), context).toContain(asked);
    return 'undecided';
  }
  const refusal = /^(\d{3}) (\w+)/.exec(verdict);
  if (refusal !== null) {
    const [, status, code] = refusal;
    expect([response.status, received.map(wireOf)], context).toEqual([Number(status), []]);
    const json = response.json as unknown as { code?: string } | undefined;
    if (json?.code !== undefined) expect(json.code, context).toBe(code);
    return `${status} ${code}`;
  }
  if (verdict.startsWith('served')) {
    if (/\(hit/.test(verdict)) expect(received.map(wireOf), context).toEqual([]);
    expect(String(response.headers['cache-status']), context).toMatch(/^portico; hit/);
    return 'served';
  }
  expect(verdict, context).toMatch(/^forwarded/);
  expect(received.map(wireOf), context).toEqual([textOf(steps, 'upstream')]);
  return verdict.startsWith('forwarded unchanged') ? 'forwarded unchanged' : 'forwarded';
}
