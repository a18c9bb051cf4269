import { createSessions } from '../../../../src/engine/upstream/sessions.ts';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { clientGone } from '../../../../src/engine/http/public-handler.ts';
import { writeReply } from '../../../../src/engine/http/write-reply.ts';
import { systemClock } from '../../../../src/lib/clock.ts';
import type { Arrival } from '../../../../src/engine/model/arrival.ts';
import { MODES } from '../../../../src/engine/model/modes.ts';
import { createTrace, type Trace } from '../../../../src/engine/model/trace.ts';
import { UpstreamFailure } from '../../../../src/engine/model/upstream-failure.ts';
import { compileUndocumentedPlan } from '../../../../src/engine/pipeline/undocumented/plan.ts';
import type { UpstreamStats } from '../../../../src/engine/upstream/upstream-stats.ts';
import { compileLegacyAddresses } from '../../../../src/engine/upstream/legacy-addresses.ts';
import { UPSTREAM_DEFAULTS, type UpstreamOptions } from '../../../../src/engine/upstream/upstream-options.ts';
import { cleanUpAfterTest } from '../../../builders/clean-up.ts';
import { callerNamed } from '../../../builders/exchange.ts';
import { upstreamAt } from './settings.ts';

/** The options for a test gateway. */
export interface GatewayChoice {
  readonly options?: Partial<UpstreamOptions>;
  readonly basePath?: string;
  readonly rewriteUrls?: boolean;
  readonly transparent?: boolean;
  /** The caller's credential. */
  readonly authorization?: string;
  /** Called with each response before anything is forwarded. */
  readonly onResponse?: (response: ServerResponse) => void | Promise<void>;
}

/** The outcome of a request. */
export interface Passed extends Pick<Trace, 'upstream' | 'bytes' | 'legacyAddress'> {
  /** The kind of transport failure. It comes from `upstream.shape` or from the thrown error. */
  readonly failure: string | undefined;
  /** True if the client received its complete response. */
  readonly whole: boolean;
}

/** A server that passes every request to the plan for undocumented paths and writes the plan's reply. */
export interface TestGateway {
  readonly port: number;
  readonly origin: string;
  stats(): UpstreamStats;
  /** The outcomes of the requests, in the order in which the responses closed. */
  readonly results: Passed[];
}

/** Starts the server. A failure results in a 502 response whose body states the kind of failure. */
export async function startGateway(origin: string, choice: GatewayChoice = {}): Promise<TestGateway> {
  const { basePath = '', transparent = false, rewriteUrls = false, authorization } = choice;
  const options = { ...UPSTREAM_DEFAULTS, ...choice.options };
  const upstream = upstreamAt(origin, options, { basePath });
  const plan = compileUndocumentedPlan({
    purgedBy: () => undefined,
    checks: MODES.staging.checks,
    transparent,
    allow: [],
    rewriteUrls,
    legacy: compileLegacyAddresses({ origin, basePath }, options.legacyOrigins),
    publicAddress: () => 'https://public.example/p',
    access: {
      decidePermission: () => ({ verdict: 'allowed', because: 'all' }),
      grantsOf: () => {
        throw new Error('no permission is asked for');
      },
      challenge: 'Basic',
      serviceCredential: false,
    },
    purge: () => undefined,
    upstream,
    sessions: createSessions(options.sessionCookies, systemClock),
    clock: systemClock,
  });
  const principal = { ...callerNamed('alice'), authorization };

  const pass = async (request: IncomingMessage, response: ServerResponse, trace: Trace) => {
    await choice.onResponse?.(response);
    const arrival = arrivalOf(request);
    const exchange = { arrival, principal, trace, permission: undefined, clientGone: () => clientGone(response) };
    const to = { method: arrival.method, ifNoneMatch: undefined, acceptEncoding: undefined };
    const { clientTimeoutMs } = options;
    const edge = {
      contractStatusHeader: false,
      reportIdOf: () => '',
      isAccepted: () => false,
      coded: () => undefined,
      clientTimeoutMs,
    };
    trace.bytes = await writeReply(response, plan, await plan.handle(exchange), to, trace, edge);
  };
  const server = createServer((request, response) => {
    const { method = '' } = request;
    const trace = createTrace({ requestId: 'request-1', traceparent: '', method, startedAt: systemClock() });
    let thrown: string | undefined;
    const failureOf = ({ upstream: exchange }: Trace) =>
      thrown ?? (exchange?.status === undefined && exchange !== undefined ? exchange.shape : undefined);
    const end = () => {
      const { upstream: exchange, bytes, legacyAddress } = trace;
      const whole = response.writableFinished;
      gateway.results.push({ upstream: exchange, bytes, legacyAddress, failure: failureOf(trace), whole });
    };
    pass(request, response, trace).catch((error: unknown) => {
      thrown = error instanceof UpstreamFailure ? error.kind : String(error);
      if (response.destroyed) return;
      response.statusCode = 502;
      response.end(thrown);
    });
    response.once('close', () => setImmediate(end));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUpAfterTest(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const gateway: TestGateway = {
    port,
    origin: `http://127.0.0.1:${port}`,
    stats: () => upstream.stats(),
    results: [],
  };
  return gateway;
}

/** Creates the arrival for a request, with a fixed client address, request id and trace. */
export function arrivalOf(request: IncomingMessage): Arrival {
  const target = request.url ?? '/';
  const [path = '/'] = target.split('?');
  return {
    method: request.method ?? 'GET',
    rawTarget: target,
    target,
    path,
    query: undefined,
    authorization: request.headers.authorization,
    otherCredential: undefined,
    headers: request.headers,
    rawHeaders: request.rawHeaders,
    clientAddress: '203.0.113.7',
    protocol: 'https',
    host: request.headers.host,
    requestId: 'request-1',
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    tracestate: undefined,
    receivedAt: 1_700_000_000_000,
    body: request,
  };
}
