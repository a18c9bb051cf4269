import { beforeAll, describe, expect, it } from 'vitest';
import { loadSettings } from '../../../src/portico-settings.ts';
import { withUpstreamUrl } from '../../../src/engine/config/settings.ts';
import { GatewayError } from '../../../src/engine/errors/gateway-error.ts';
import { assembleGateway } from '../../../src/engine/gateway.ts';
import type { Trace } from '../../../src/engine/model/trace.ts';
import { UpstreamFailure } from '../../../src/engine/model/upstream-failure.ts';
import { startReferenceServer } from '../../../src/reference/start-reference-server.ts';
import { toWalkedGateway, toWalkSettings, type WalkedResponse } from '../../../src/workbench/walk/send-walk-request.ts';
import { failureWords, walk, type WalkOptions } from '../../../src/workbench/walk/walk.ts';
import { basic } from '../../builders/call.ts';
import { OPERATIONS } from '../../builders/operations.ts';
import { startFakeUpstream } from '../../builders/fake-upstream.ts';
import { withReferenceServer } from '../../reference/with-reference-server.ts';

/** The operations of a walk without ids. No list contains job ids. */
const WALKED = OPERATIONS.filter(({ id, method }) => method === 'GET' && id !== 'getGdprJob');

describe('walk', () => {
  const reference = withReferenceServer({ complete: true });

  async function walkOf(url: string, options: Partial<WalkOptions> = {}) {
    const settings = withUpstreamUrl(loadSettings({ env: {}, cwd: '/', flags: [] }), url);
    const gateway = assembleGateway(toWalkSettings(settings, undefined));
    const responses: WalkedResponse[] = [];
    const traces: Trace[] = [];
    const paused: number[] = [];
    const summary = await walk(
      toWalkedGateway(gateway),
      {
        authorization: basic('admin'),
        maxRequests: 200,
        delayMs: 50,
        ids: new Map(),
        signal: new AbortController().signal,
        record: (trace) => traces.push(trace),
        pause: (ms) => Promise.resolve(void paused.push(ms)),
        ...options,
      },
      (one) => responses.push(one),
    );
    await gateway.close();
    return { summary, responses, traces, paused };
  }

  /** The results of sending 200 requests to a correct upstream. Several tests examine them. */
  let whole: Awaited<ReturnType<typeof walkOf>>;
  beforeAll(async () => {
    whole = await walkOf(reference.server().url);
  });

  it('requests every safe operation with known ids from a correct upstream and reports no difference', () => {
    const { summary, responses, traces, paused } = whole;
    expect(summary.walked.map(({ operation }) => operation).sort()).toEqual(WALKED.map(({ id }) => id).toSorted());
    expect(summary).toMatchObject({ requests: 200, ended: 'max-requests' });
    expect(summary.notWalked).toEqual([{ operation: 'getGdprJob', missing: ['jobId'] }]);
    expect(traces.flatMap(({ violations }) => violations)).toEqual([]);
    expect(traces).toHaveLength(200);
    expect(paused).toEqual(Array.from({ length: 199 }, () => 50));
    expect(new Set(responses.map(({ exchange }) => exchange.arrival.target)).size).toBe(200);
  });

  it('sends the plain requests of all operations before any variation', () => {
    const count = WALKED.length;
    const responses = whole.responses.slice(0, count);
    expect(responses.map(({ exchange }) => exchange.arrival.query)).toEqual(WALKED.map(() => undefined));
    expect(new Set(responses.map(({ operation }) => operation.id)).size).toBe(count);
  });

  it('requests pages, sorts, projections, details, wrap, v1 and a page beyond the end, and reports none of them', () => {
    const { responses, traces } = whole;
    const asked = responses.map(({ exchange }) => exchange.arrival.query ?? '');
    for (const query of [
      'page=2',
      'page=35',
      'sort=newest',
      'includeOnly=author.id',
      'details=true',
      'wrap=true',
      'v1=true',
    ])
      expect(asked).toContain(query);
    expect(traces.filter(({ pageBounds }) => pageBounds?.outcome === 'reported')).toEqual([]);
    expect(traces.some(({ pageBounds }) => pageBounds?.reason === 'walk')).toBe(true);
  });

  it('uses the given ids', async () => {
    const ids = new Map([['jobId', ['1']]]);
    const { responses } = await walkOf(reference.server().url, { maxRequests: 12, ids });
    expect(responses.map(({ exchange }) => exchange.arrival.path)).toContain('/services/v2/jobs/gdpr/1.json');
  });

  it('uses ids from responses that a number cannot represent', async () => {
    const large = '{"list":[{"id":9007199254740993,"type":"question"}]}';
    const upstream = await startFakeUpstream(({ path }) =>
      path.endsWith('/question.json') ? { headers: { 'Content-Type': 'application/json' }, body: large } : { json: {} },
    );
    const { responses } = await walkOf(upstream.url, { maxRequests: 40 });
    const paths = responses.map(({ exchange }) => exchange.arrival.path);
    expect(paths).toContain('/services/v2/node/9007199254740993/comment.json');
  });

  it('reports differences', async () => {
    const server = await startReferenceServer({ complete: true, chaos: ['missing-field:title@6'] });
    const { traces } = await walkOf(server.url, { maxRequests: 20 });
    await server.close();
    const places = traces.flatMap(({ operation, violations }) => violations.map(({ at }) => `${operation} ${at}`));
    expect(new Set(places)).toEqual(new Set(['listQuestions /list/0/title']));
  });

  it('reports one kind of difference for each kind of misbehavior', async () => {
    const chaos = ['missing-field@6', 'wrong-type:topics@8', 'extra-field@9', 'wrong-envelope@13'];
    const server = await startReferenceServer({ complete: true, chaos });
    const { traces } = await walkOf(server.url, { maxRequests: 150 });
    await server.close();
    const kinds = traces.flatMap(({ operation, violations }) =>
      violations.map(({ keyword, at }) => `${operation} ${keyword} ${at.replaceAll(/\d+/g, '*')}`),
    );
    expect([...new Set(kinds)].toSorted()).toEqual([
      'listArticles type ',
      'listGroupUsers includeOnly /list/*/unexpectedField',
      'listGroupUsers undocumented-field /list/*/unexpectedField',
      'listIdeas type /list/*/topics',
      'listQuestions required /list/*/id',
    ]);
  });

  it('ends as unreachable and records nothing if the port is closed', async () => {
    const { summary, traces } = await walkOf('http://127.0.0.1:9');
    expect(summary).toMatchObject({
      requests: 1,
      ended: 'unreachable',
      failure:
        'the server does not accept connections on this port; check the port and whether it is running (ECONNREFUSED)',
    });
    expect(traces).toEqual([]);
  });

  it('continues after an operation that always fails, and records the failure', async () => {
    const server = await startReferenceServer({ chaos: ['reset@6'] });
    const { summary, traces } = await walkOf(server.url, { maxRequests: 20 });
    await server.close();
    expect(summary.walked.length).toBeGreaterThan(8);
    expect(traces.filter(({ upstream }) => upstream?.shape === 'reset').map(({ operation }) => operation)).toEqual([
      'listQuestions',
    ]);
  });

  it('ends as unreachable if the upstream breaks every connection', async () => {
    const server = await startReferenceServer({ chaos: ['reset'] });
    const { summary } = await walkOf(server.url, { maxRequests: 20 });
    await server.close();
    expect(summary).toMatchObject({ ended: 'unreachable', failure: 'the connection to the upstream was lost' });
  });

  it('ends after five consecutive failures', async () => {
    const server = await startReferenceServer({ chaos: ['reset@/.*[?]page'] });
    const { summary } = await walkOf(server.url);
    await server.close();
    expect(summary).toMatchObject({
      ended: 'unreachable',
      failure: 'the connection to the upstream was lost',
      requests: WALKED.length + 5,
    });
  });

  it('counts repeated requests after broken connections towards the maximum', async () => {
    const upstream = await startFakeUpstream((_request, response) => {
      if (upstream.requests.length % 3 > 0) return { json: { list: [], pageCount: 0, sorts: ['newest', 'hottest'] } };
      response.destroy();
      return undefined;
    });
    const { summary } = await walkOf(upstream.url, { maxRequests: 20 });
    expect(summary.ended).toBe('max-requests');
    expect(summary.requests).toBeLessThan(upstream.requests.length);
    // The maximum can be exceeded only if the last request is retried.
    expect(upstream.requests.length).toBeLessThanOrEqual(21);
    expect(new Set(upstream.requests.map(({ method }) => method))).toEqual(new Set(['GET']));
  });

  it('ends on a signal with the results so far', async () => {
    const controller = new AbortController();
    const { summary, traces } = await walkOf(reference.server().url, {
      signal: controller.signal,
      onProgress: ({ sent }) => {
        if (sent === 3) controller.abort();
      },
    });
    expect(summary.ended).toBe('signal');
    expect(traces).toHaveLength(2);
  });
});

describe('the text of a failure', () => {
  const failedWith = (code: string) =>
    new GatewayError('upstream_refused', 'The upstream cannot be reached.', {
      cause: new UpstreamFailure('refused', { cause: Object.assign(new Error('no'), { code }) }),
    });

  it.each([
    ['ECONNREFUSED', 'the server does not accept connections on this port'],
    ['ENOTFOUND', 'the host name cannot be resolved'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'the certificate is not trusted; add the authority that issued it'],
    ['CERT_HAS_EXPIRED', 'the certificate is not trusted'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'the TLS handshake fails; check whether the URL must start with http://'],
    ['UND_ERR_SOCKET', 'the server closes the connection'],
  ])('explains %s', (code, words) => {
    expect(failureWords(failedWith(code))).toMatch(new RegExp(`^${words}.*\\(${code}\\)$`));
  });
});
