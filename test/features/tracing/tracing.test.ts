import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exampleResponse } from '../../builders/example-response.ts';
import { startFakeUpstream } from '../../builders/fake-upstream.ts';
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from '../../builders/otlp-receiver.ts';
import { createTestClock } from '../../builders/test-clock.ts';
import { startTestGateway, type TestGatewayOptions } from '../../builders/test-gateway.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import { until } from '../../builders/until.ts';

const PAGE = '/services/v2/question.json';
const ROUTE = 'GET /services/v2/question.json';
const COMMENTS = '/services/v2/node/17/comment.json';

const CALLER = { trace: '0af7651916cd43dd8448eb211c80319c', span: 'b7ad6b7169203331' };
const CALLED = { traceparent: `00-${CALLER.trace}-${CALLER.span}-01` };

async function start(config: Record<string, unknown> = {}, more: Partial<TestGatewayOptions> = {}) {
  const receiver = await startOtlpReceiver();
  const upstream = await startFakeUpstream(exampleResponse);
  const { tracing, listen, ...rest } = config as { tracing?: object; listen?: object };
  const gateway = await startTestGateway({
    upstream,
    config: {
      tracing: { endpoint: receiver.url, exportSeconds: 0.01, ...tracing },
      // At shutdown, `drainSeconds` is also the time limit for the last export.
      listen: { drainSeconds: 10, ...listen },
      ...rest,
    },
    ...more,
  });
  return { receiver, upstream, gateway };
}

const serverSpan = (receiver: OtlpReceiver) => receiver.span(({ kind }) => kind === 'server');
const clientSpan = (receiver: OtlpReceiver) => receiver.span(({ kind }) => kind === 'client');
const eventOf = (span: ReceivedSpan, name: string) =>
  span.events.find((event) => event.name === `portico.${name}`)?.attributes;

describe('the spans of a request', () => {
  it('follow the HTTP semantic conventions, with the exchange as a child that the upstream receives', async () => {
    const { receiver, upstream, gateway } = await start();
    await gateway.call(`${PAGE}?page=1`, { headers: { 'X-Request-Id': 'spans-1' } });
    const [server, client] = [await serverSpan(receiver), await clientSpan(receiver)];
    expect(server).toMatchObject({
      name: ROUTE,
      kind: 'server',
      parentSpanId: '',
      attributes: {
        'http.request.method': 'GET',
        'http.route': PAGE,
        'http.response.status_code': 200,
        'url.path': PAGE,
        'url.scheme': 'http',
        'portico.operation': 'listQuestions',
        'portico.cache': 'miss',
      },
      links: [],
      status: { code: 0 },
      scope: 'portico',
      resource: { 'service.name': 'portico', 'service.version': '0.1.0', 'telemetry.sdk.language': 'nodejs' },
    });
    expect(server.resource['service.instance.id']).toMatch(/^.+-[\da-f]{4}$/);
    const { hostname, port } = new URL(upstream.url);
    expect(client).toMatchObject({
      name: 'GET',
      traceId: server.traceId,
      parentSpanId: server.spanId,
      attributes: {
        'http.request.method': 'GET',
        'http.response.status_code': 200,
        'server.address': hostname,
        'server.port': Number(port),
        'url.full': `${upstream.url}${PAGE}`,
      },
    });
    expect(upstream.requests[0]?.headers['traceparent']).toBe(`00-${client.traceId}-${client.spanId}-01`);
    expect(client.start).toBeGreaterThanOrEqual(server.start);
    expect(client.end).toBeLessThanOrEqual(server.end);
    const line = await gateway.lineOf('spans-1');
    expect([line['traceId'], line['spanId']]).toEqual([server.traceId, server.spanId]);
  });

  it('contain the verdicts of the stages as events', async () => {
    const { receiver, gateway } = await start();
    await gateway.call(PAGE);
    const server = await serverSpan(receiver);
    expect(eventOf(server, 'authentication')).toMatchObject({
      'portico.outcome': 'passed',
      'portico.principal': 'verified',
    });
    expect(eventOf(server, 'requests')).toEqual({ 'portico.level': 'enforce', 'portico.outcome': 'passed' });
    expect(eventOf(server, 'cache')).toEqual({
      'portico.cache': 'miss',
      'portico.reason': 'miss',
      'portico.stored': true,
    });
    expect(eventOf(server, 'upstream')).toEqual({
      'portico.upstream.shape': 'answer',
      'portico.upstream.status_code': 200,
    });
    expect(eventOf(server, 'responses')).toMatchObject({ 'portico.verdict': 'valid', 'portico.violations': 0 });
  });

  it('are one span for a cache hit', async () => {
    const { receiver, gateway } = await start();
    await gateway.call(PAGE);
    await gateway.call(PAGE);
    const hit = await receiver.span(({ attributes }) => attributes['portico.cache'] === 'hit');
    expect(eventOf(hit, 'cache')).toMatchObject({ 'portico.cache': 'hit' });
    expect(eventOf(hit, 'cache')?.['portico.age_seconds']).toBeTypeOf('number');
    expect(receiver.spans.filter(({ traceId }) => traceId === hit.traceId)).toHaveLength(1);
  });

  it('name the check that refused the request', async () => {
    const { receiver, gateway } = await start();
    await gateway.call(`${PAGE}?page=none`);
    const server = await serverSpan(receiver);
    expect(server.attributes).toMatchObject({ 'http.response.status_code': 400, 'portico.error': 'invalid_parameter' });
    expect(eventOf(server, 'requests')).toMatchObject({ 'portico.outcome': 'refused' });
    expect(eventOf(server, 'refused')).toEqual({ 'portico.error': 'invalid_parameter' });
    expect(server.status.code).toBe(0);
  });

  it('fail if the upstream fails', async () => {
    const { receiver, upstream, gateway } = await start();
    upstream.handler = (_request, response) => void response.destroy();
    await gateway.call(PAGE);
    const [server, client] = [await serverSpan(receiver), await clientSpan(receiver)];
    expect(server).toMatchObject({ status: { code: 2 }, attributes: { 'error.type': 'upstream_reset' } });
    expect(client).toMatchObject({ status: { code: 2 }, attributes: { 'error.type': 'connection_terminated' } });
  });

  it('continue the trace of the caller in the exchange of an operation that is not stored', async () => {
    const { receiver, upstream, gateway } = await start({ tracing: { followSampled: 'everyone' } });
    await gateway.call(COMMENTS, { headers: { ...CALLED, tracestate: 'vendor=1' } });
    const [server, client] = [await serverSpan(receiver), await clientSpan(receiver)];
    expect(server).toMatchObject({ traceId: CALLER.trace, parentSpanId: CALLER.span });
    expect(client).toMatchObject({ traceId: CALLER.trace, parentSpanId: server.spanId });
    expect(upstream.requests[0]?.headers).toMatchObject({
      traceparent: `00-${CALLER.trace}-${client.spanId}-01`,
      tracestate: 'vendor=1',
    });
  });

  // An attacker sends a trace id in the hope that the upstream copies it into a page that other callers receive.
  it('are linked if the response is stored, because the trace id of a caller must not reach a shared page', async () => {
    const { receiver, upstream, gateway } = await start();
    await gateway.call(PAGE, { headers: CALLED });
    const [server, client] = [await serverSpan(receiver), await clientSpan(receiver)];
    expect(server).toMatchObject({ traceId: CALLER.trace, parentSpanId: CALLER.span });
    expect(client.traceId).not.toBe(CALLER.trace);
    expect(client.parentSpanId).toBe('');
    expect(server.links).toMatchObject([{ traceId: client.traceId, spanId: client.spanId }]);
    expect(client.links).toMatchObject([{ traceId: CALLER.trace, spanId: server.spanId }]);
    expect(upstream.requests[0]?.headers['traceparent']).toBe(`00-${client.traceId}-${client.spanId}-01`);
  });

  it('link coalesced requests to the exchange that they share', async () => {
    const { receiver, upstream, gateway } = await start();
    const arrived = Promise.withResolvers<void>();
    const joined = Promise.withResolvers<void>();
    upstream.handler = async (request) => {
      arrived.resolve();
      await joined.promise;
      return exampleResponse(request);
    };
    const first = gateway.call(PAGE);
    await arrived.promise;
    const second = gateway.call(PAGE);
    await until(() => gateway.gateway.services.upstreams.stats().inFlight === 1);
    // No event shows that the second request is waiting, so the test gives it time to join the first.
    for (let turns = 0; turns < 1000; turns += 1) await new Promise(setImmediate);
    joined.resolve();
    await Promise.all([first, second]);
    const client = await clientSpan(receiver);
    const follower = await receiver.span(({ attributes }) => attributes['portico.cache'] === 'coalesced');
    expect(follower.links).toMatchObject([
      { traceId: client.traceId, spanId: client.spanId, attributes: { 'portico.link': 'coalesced' } },
    ]);
    expect(upstream.requests).toHaveLength(1);
  });
});

describe('the spans of a repeated exchange', () => {
  /** Starts a gateway in front of two addresses, the first of which closes every connection. */
  async function startPair(mode: string) {
    const receiver = await startOtlpReceiver();
    const broken = await startFakeUpstream((_request, response) => void response.destroy());
    const working = await startFakeUpstream(exampleResponse);
    const gateway = await startTestGateway({
      upstream: broken,
      real: true,
      keepAccounts: true,
      config: {
        mode,
        authentication: { verifier: 'file' },
        cache: { enabled: false },
        tracing: { endpoint: receiver.url, exportSeconds: 0.01 },
        upstream: { alternates: [working.url] },
        listen: { drainSeconds: 10 },
      },
    });
    return { receiver, broken, working, gateway };
  }

  it('are one for each attempt, with its address, its result and the id that was sent', async () => {
    const { receiver, broken, working, gateway } = await startPair('staging');
    expect((await gateway.call(PAGE, { user: 'bob' })).status).toBe(200);
    await gateway.close();
    const [server, ...clients] = receiver.spans;
    expect(eventOf(server as ReceivedSpan, 'retried')).toEqual({ 'portico.attempts': 2 });
    expect(clients).toMatchObject([
      {
        parentSpanId: server?.spanId,
        status: { code: 2 },
        attributes: { 'server.port': Number(new URL(broken.url).port), 'error.type': 'connection_terminated' },
      },
      {
        parentSpanId: server?.spanId,
        status: { code: 0 },
        attributes: {
          'server.port': Number(new URL(working.url).port),
          'url.full': `${working.url}${PAGE}`,
          'http.request.resend_count': 1,
          'http.response.status_code': 200,
        },
      },
    ]);
    expect([broken, working].map(({ requests }) => requests[0]?.headers['traceparent'])).toEqual(
      clients.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`),
    );
    expect(clients[0]?.attributes['http.request.resend_count']).toBeUndefined();
  });

  it('are none if the exchange was refused before it was sent', async () => {
    const { receiver, upstream, gateway } = await start({
      upstream: { circuit: { failures: 1 } },
      cache: { enabled: false },
    });
    upstream.handler = (_request, response) => void response.destroy();
    await gateway.call(PAGE);
    await gateway.call(PAGE);
    await gateway.close();
    const [, , refused] = receiver.spans;
    expect(receiver.spans).toHaveLength(3);
    expect(refused).toMatchObject({
      kind: 'server',
      attributes: { 'http.response.status_code': 503, 'error.type': 'upstream_circuit_open' },
    });
    expect(eventOf(refused as ReceivedSpan, 'upstream')).toMatchObject({ 'portico.upstream.shape': 'circuit_open' });
  });
});

describe('the spans of background work', () => {
  it('are a child of the span of the request that caused it', async () => {
    const clock = createTestClock();
    const { receiver, gateway } = await start({ tracing: { exportSeconds: 0.01 } }, { clock });
    await gateway.call(PAGE);
    const miss = await serverSpan(receiver);
    clock.advance(40);
    await gateway.call(PAGE);
    const stale = await receiver.span(({ attributes }) => attributes['portico.cache'] === 'stale');
    const refresh = await receiver.span(({ kind }) => kind === 'internal');
    const fetched = await receiver.span(({ parentSpanId }) => parentSpanId === refresh.spanId);
    expect(refresh).toMatchObject({ name: `refresh ${PAGE}`, traceId: stale.traceId, parentSpanId: stale.spanId });
    expect(fetched).toMatchObject({ kind: 'client', traceId: stale.traceId });
    expect(stale.traceId).not.toBe(miss.traceId);
  });
});

describe('the spans of an undocumented path', () => {
  const config = { mode: 'staging', undocumented: { allow: [{ method: '*', path: '/services/v2/**' }] } };
  const METHODS = ['GET', 'PATCH'] as const;

  it.each(METHODS)('show the shape of the path, and name the span that the upstream receives (%s)', async (method) => {
    const { receiver, upstream, gateway } = await start(config);
    const body = method === 'GET' ? undefined : 'x'.repeat(100);
    await gateway.call('/services/v2/space/John.Smith/posts.json?name=John', { method, body });
    const [server, client] = [await serverSpan(receiver), await clientSpan(receiver)];
    expect(server).toMatchObject({ name: method, attributes: { 'url.path': '/services/v2/space/{}/posts.json' } });
    expect(server.attributes['http.route']).toBeUndefined();
    expect(client).toMatchObject({
      name: method,
      parentSpanId: server.spanId,
      attributes: { 'url.full': `${upstream.url}/services/v2/space/{}/posts.json` },
    });
    expect(upstream.requests[0]?.headers['traceparent']).toBe(`00-${client.traceId}-${client.spanId}-01`);
  });
});

describe('in observe mode, the client span', () => {
  // An attacker sends a header whose value is the name of another header. Code that finds `traceparent` by searching
  // for its name would overwrite the wrong text.
  it('is named in the one traceparent header, and nothing else changes', async () => {
    const { receiver, upstream, gateway } = await start({ mode: 'observe' });
    await gateway.call(PAGE, { headers: { 'X-First': 'traceparent', 'X-Second': 'b', 'X-Third': 'traceparent' } });
    const client = await clientSpan(receiver);
    expect(upstream.requests[0]?.headers).toMatchObject({
      'x-first': 'traceparent',
      'x-second': 'b',
      'x-third': 'traceparent',
      traceparent: `00-${client.traceId}-${client.spanId}-01`,
    });
  });
});

describe('the server span', () => {
  it('names the configured host, never the one that a client sends', async () => {
    const { receiver, gateway } = await start({ publicOrigin: 'https://qa.example.org', publicBasePath: '/qa' });
    await gateway.call(`/qa${PAGE}`, { headers: { Host: 'evil.example' } });
    expect(await serverSpan(receiver)).toMatchObject({
      name: `GET /qa${PAGE}`,
      attributes: {
        'server.address': 'qa.example.org',
        'server.port': 443,
        'url.scheme': 'https',
        'url.path': `/qa${PAGE}`,
      },
    });
  });

  it('records that the client disconnected, which is not an error of the server', async () => {
    const { receiver, upstream, gateway } = await start();
    const arrived = Promise.withResolvers<void>();
    upstream.handler = () => {
      arrived.resolve();
      return new Promise(() => undefined);
    };
    const leaving = new AbortController();
    const call = gateway.call(COMMENTS, { signal: leaving.signal }).catch(() => undefined);
    await arrived.promise;
    leaving.abort();
    await call;
    const server = await serverSpan(receiver);
    expect(eventOf(server, 'disconnected')).toEqual({});
    expect(server.attributes['http.response.status_code']).toBeUndefined();
    expect(server.status.code).toBe(0);
  });
});

describe('sampling', () => {
  const isSampled = async (tracing: object, headers: Record<string, string>, listen: object = {}) => {
    const { upstream, gateway } = await start({ tracing, listen });
    await gateway.call(COMMENTS, { headers });
    await gateway.close();
    return upstream.requests[0]?.headers['traceparent']?.toString().slice(-2) === '01';
  };
  const unsampled = { traceparent: `00-${CALLER.trace}-${CALLER.span}-00` };
  const trusted = { trustedProxies: ['127.0.0.1'] };

  // The attack: a caller sets the flag on every request to have every request exported, which costs money.
  it('ignores the flag of an untrusted caller', async () => {
    expect(await isSampled({ sampleRatio: 0 }, CALLED)).toBe(false);
    expect(await isSampled({}, unsampled)).toBe(true);
  });

  it('follows the flag of a trusted proxy', async () => {
    expect(await isSampled({ sampleRatio: 0 }, CALLED, trusted)).toBe(true);
    expect(await isSampled({}, unsampled, trusted)).toBe(false);
  });

  it('follows the flag of everyone, or of nobody, if the configuration says so', async () => {
    expect(await isSampled({ sampleRatio: 0, followSampled: 'everyone' }, CALLED)).toBe(true);
    expect(await isSampled({ sampler: 'always_off', followSampled: 'everyone' }, CALLED, trusted)).toBe(false);
  });

  it('exports nothing of a request that is not sampled', async () => {
    const { receiver, gateway } = await start({ tracing: { sampler: 'always_off' } });
    await gateway.call(PAGE);
    await gateway.close();
    expect(receiver.spans).toEqual([]);
  });
});

describe('the exported bytes', () => {
  // An attacker or a careless client can put secrets and personal data in any part of a request. People who read the
  // traces must not see them.
  it('contain nothing that a client sent', async () => {
    const { receiver, gateway } = await start({ mode: 'staging' });
    const planted = 'planted-4711';
    const headers = {
      'User-Agent': planted,
      Cookie: planted,
      Referer: `https://${planted}.example`,
      Host: `${planted}.example`,
      'X-Forwarded-For': planted,
      'X-Request-Id': planted,
      tracestate: `${planted}=${planted}`,
      baggage: `user=${planted}`,
      ...CALLED,
    };
    const targets = [
      `${PAGE}?q=${planted}`,
      `${PAGE}?page=${planted}`,
      `/services/v2/node/${planted}/comment.json`,
      `/services/v2/${planted}.json?token=${planted}`,
      `/${planted}/${planted}`,
      `/services/v2/%2e%2e/${planted}`,
    ];
    for (const target of targets) {
      await gateway.call(target, { headers });
      await gateway.call(target, { headers, user: planted });
      await gateway.call(target, { headers, method: 'POST', body: { [planted]: planted } });
    }
    await gateway.close();
    expect(receiver.spans.length).toBeGreaterThanOrEqual(3 * targets.length);
    const exported = Buffer.concat(receiver.bytes).toString('latin1');
    expect(exported).not.toContain(planted);
    expect(exported).not.toMatch(/127\.0\.0\.1:\d+\/.*\?|Basic |admin/);
  });

  it('contain nothing that the upstream sent', async () => {
    const { receiver, upstream, gateway } = await start();
    const planted = 'planted-4711';
    upstream.handler = () => ({ status: 500, headers: { 'X-Planted': planted }, json: { error: planted } });
    await gateway.call(PAGE);
    upstream.handler = () => ({ json: { list: planted, [planted]: 1 } });
    await gateway.call(PAGE);
    await gateway.close();
    expect(receiver.spans.length).toBeGreaterThanOrEqual(4);
    expect(Buffer.concat(receiver.bytes).toString('latin1')).not.toContain(planted);
  });
});

describe('a receiver that does not work', () => {
  const spans = (gateway: Awaited<ReturnType<typeof start>>['gateway'], outcome: string) =>
    gateway.metric(`portico_trace_spans_total{outcome="${outcome}"}`);
  /** Reads the counts without the admin side, so that they can be read after the gateway has closed. */
  const countsOf = async ({ gateway }: Awaited<ReturnType<typeof start>>['gateway']) => {
    const text = await gateway.services.metrics.exposition();
    const counts = [...text.matchAll(/^portico_trace_spans_total\{outcome="(\w+)"\} (\d+)$/gm)];
    return Object.fromEntries(counts.map(([, outcome, count]) => [outcome, Number(count)])) as Record<string, number>;
  };

  it('that hangs delays no request, and further spans are dropped and counted', async () => {
    const { receiver, gateway } = await start({ tracing: { maxQueuedSpans: 4 }, listen: { drainSeconds: 0.1 } });
    const stuck = Promise.withResolvers<void>();
    receiver.respond = () => stuck.resolve();
    await gateway.call(PAGE);
    await stuck.promise;
    for (let count = 0; count < 10; count += 1) expect((await gateway.call(PAGE)).status).toBe(200);
    await until(() => gateway.log.filter((line) => line.includes('"cache":"hit"')).length === 10);
    expect(await spans(gateway, 'dropped')).toBe(6);
    expect(await spans(gateway, 'exported')).toBe(0);
  });

  it('that refuses the spans is counted and logged once', async () => {
    const { receiver, gateway } = await start();
    receiver.respond = (response) => response.writeHead(401).end('the key planted-4711 is wrong');
    await gateway.call(PAGE);
    await gateway.call(PAGE);
    await until(() => gateway.log.some((line) => line.includes('spans cannot be exported')));
    await gateway.call(PAGE);
    await gateway.close();
    const lines = gateway.log.filter((line) => line.includes('spans'));
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([{ level: 'warn', reason: 'status 401' }]);
    expect(await countsOf(gateway)).toEqual({ exported: 0, failed: 4, dropped: 0 });
    expect(gateway.log.join('')).not.toContain('planted');
  });

  it('that does not speak HTTP is logged by an error code, never with its words', async () => {
    const { receiver, gateway } = await start();
    receiver.respond = (response) => response.socket?.end('planted-4711\r\n\r\n');
    await gateway.call(PAGE);
    await until(() => gateway.log.some((line) => line.includes('spans cannot be exported')));
    const line = gateway.log.find((one) => one.includes('spans cannot be exported')) ?? '';
    expect(JSON.parse(line)).toMatchObject({ level: 'warn', reason: 'HPE_INVALID_CONSTANT' });
    expect(line).not.toContain('planted');
  });

  it('that hangs delays the shutdown only for the drain time, and what it has not confirmed counts as dropped', async () => {
    const { receiver, gateway } = await start({ listen: { drainSeconds: 0.2 } });
    receiver.respond = () => undefined;
    await gateway.call(PAGE);
    await gateway.close();
    expect(await countsOf(gateway)).toEqual({ exported: 0, failed: 0, dropped: 2 });
  });
});

describe('a reload', () => {
  it('gives the spans the address that clients now use, and exports go on', async () => {
    const { receiver, gateway } = await start();
    await gateway.call(PAGE);
    expect((await serverSpan(receiver)).attributes).toMatchObject({ 'url.scheme': 'http' });
    const tracing = { endpoint: receiver.url, exportSeconds: 0.01 };
    await gateway.reload({
      config: { tracing, listen: { drainSeconds: 10 }, publicOrigin: 'https://qa.example.org' },
    });
    await gateway.call(PAGE);
    const span = await receiver.span(({ attributes }) => attributes['url.scheme'] === 'https');
    expect(span.attributes).toMatchObject({ 'server.address': 'qa.example.org', 'server.port': 443 });
  });

  it('that changes the contract keeps the exemplars', async () => {
    const { receiver, gateway } = await start();
    const tracing = { endpoint: receiver.url, exportSeconds: 0.01 };
    const overlay = join(tempFolder(), 'operation.yaml');
    const path = '"/services/v2/planet.json"';
    const operation = '{ operationId: listPlanets, responses: { "200": { description: ok } } }';
    writeFileSync(
      overlay,
      `overlay: 1.0.0\ninfo: { title: t, version: "1" }\nactions:\n  - target: $.paths\n    update: { ${path}: { get: ${operation} } }\n`,
    );
    await gateway.reload({
      config: { tracing, listen: { drainSeconds: 10 }, contract: { overlays: [overlay] } },
    });
    await gateway.call(PAGE);
    const accept = { Accept: 'application/openmetrics-text' };
    const { traceId } = await serverSpan(receiver);
    expect((await gateway.admin('/metrics', { headers: accept })).text).toContain(`trace_id="${traceId}"`);
  });
});

describe('the shutdown', () => {
  it('exports the spans that are still waiting', async () => {
    const { receiver, gateway } = await start({ tracing: { exportSeconds: 60 } });
    await gateway.call(PAGE);
    expect(receiver.spans).toHaveLength(0);
    await gateway.close();
    expect(receiver.spans.map(({ kind }) => kind)).toEqual(['server', 'client']);
  });
});

describe('the receiver', () => {
  it('gets the configured headers and resource attributes', async () => {
    const { receiver, gateway } = await start({
      tracing: {
        headers: 'api-key=a%3Db,x-team=qa',
        resourceAttributes: 'deployment.environment.name=test,service.name=other',
      },
    });
    await gateway.call(PAGE);
    const { resource } = await serverSpan(receiver);
    expect(resource).toMatchObject({ 'deployment.environment.name': 'test', 'service.name': 'other' });
    expect(receiver.requests[0]).toMatchObject({
      path: '/v1/traces',
      headers: { 'api-key': 'a=b', 'x-team': 'qa', 'content-type': 'application/x-protobuf' },
    });
  });

  it('can be set with the standard environment variables', async () => {
    const receiver = await startOtlpReceiver();
    const upstream = await startFakeUpstream(exampleResponse);
    const gateway = await startTestGateway({
      upstream,
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: `${receiver.url}/`,
        OTEL_EXPORTER_OTLP_HEADERS: 'api-key=secret',
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
        OTEL_SERVICE_NAME: 'qa-gateway',
        OTEL_RESOURCE_ATTRIBUTES: 'team=qa',
        OTEL_TRACES_SAMPLER: 'traceidratio',
        OTEL_TRACES_SAMPLER_ARG: '1.0',
      },
    });
    await gateway.call(PAGE);
    await gateway.close();
    expect(receiver.spans[0]?.resource).toMatchObject({ 'service.name': 'qa-gateway', team: 'qa' });
    expect(receiver.requests[0]).toMatchObject({ path: '/v1/traces', headers: { 'api-key': 'secret' } });
  });
});

describe('the metrics', () => {
  const OPEN_METRICS = 'application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.3,*/*;q=0.2';

  it('link the buckets of durations to traces in the OpenMetrics format', async () => {
    const { receiver, gateway } = await start();
    await gateway.call(PAGE);
    const [server, client] = [await serverSpan(receiver), await clientSpan(receiver)];
    const { text, headers } = await gateway.admin('/metrics', { headers: { Accept: OPEN_METRICS } });
    expect(headers['content-type']).toMatch(/^application\/openmetrics-text; version=1\.0\.0; charset=utf-8$/);
    const exemplarOf = (name: string, { traceId, spanId }: typeof server) =>
      new RegExp(
        `^${name}_bucket\\{le="[^"]+",operation="listQuestions"\\} 1 # \\{trace_id="${traceId}",span_id="${spanId}"\\} [\\d.]+ \\d+(?:\\.\\d+)?$`,
        'm',
      );
    expect(text).toMatch(exemplarOf('portico_http_request_duration_seconds', server));
    expect(text).toMatch(exemplarOf('portico_upstream_exchange_duration_seconds', client));
    expect(text).toMatch(/\n# EOF\n$/);
    expect(text).not.toMatch(/\n\n|^# TYPE \S+_total /m);
    expect(text).toMatch(/^# TYPE portico_http_requests counter$/m);
    expect(text).toMatch(/^portico_http_requests_total\{/m);
  });

  it('stay in the plain text format for other clients, without exemplars', async () => {
    const { gateway } = await start();
    await gateway.call(PAGE);
    for (const Accept of [
      '*/*',
      'text/plain',
      'application/openmetrics-text;q=0',
      'text/plain,application/openmetrics-text;q=0.5',
    ]) {
      const { text, headers } = await gateway.admin('/metrics', { headers: { Accept } });
      expect(headers['content-type']).toMatch(/^text\/plain/);
      expect(text).not.toMatch(/ # \{|# EOF/);
    }
  });

  it('stay in the plain text format without tracing', async () => {
    const upstream = await startFakeUpstream(exampleResponse);
    const gateway = await startTestGateway({ upstream });
    await gateway.call(PAGE, { headers: CALLED });
    const { text, headers } = await gateway.admin('/metrics', { headers: { Accept: OPEN_METRICS } });
    expect(headers['content-type']).toMatch(/^text\/plain/);
    expect(text).not.toContain(' # {');
  });
});
