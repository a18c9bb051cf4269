import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import type { Arrival } from '../../../src/model/arrival.ts';
import type { HeaderPairs } from '../../../src/model/header-pairs.ts';
import { UpstreamFailure } from '../../../src/model/upstream-failure.ts';
import { createPassthrough } from '../../../src/upstream/create-passthrough.ts';
import type { PassthroughContext, PassthroughResult } from '../../../src/upstream/passthrough-context.ts';
import { createUpstreamGate, type UpstreamGate } from '../../../src/upstream/upstream-gate.ts';
import { UPSTREAM_DEFAULTS, type UpstreamOptions } from '../../../src/upstream/upstream-options.ts';

/** What a test chooses. */
export interface GatewayChoice extends Partial<Omit<PassthroughContext, 'arrival'>> {
  readonly options?: Partial<UpstreamOptions>;
  readonly basePath?: string;
  readonly rewriteUrls?: boolean;
  /** Called with each response before anything is passed. */
  readonly onResponse?: (response: ServerResponse) => void | Promise<void>;
}

/** A server that passes everything on, as the edge would. */
export interface TestGateway {
  readonly port: number;
  readonly origin: string;
  readonly gate: UpstreamGate;
  /** What became of each request, in the order in which they ended. */
  readonly results: (PassthroughResult | UpstreamFailure)[];
  readonly heads: { status: number; headers: HeaderPairs }[];
  legacyFound: number;
}

const closers = new Set<() => void>();
afterEach(() => {
  for (const close of closers) close();
  closers.clear();
});

/** Starts the server; failures are written as `<kind>` with status 502. */
export async function startGateway(upstream: string, choice: GatewayChoice = {}): Promise<TestGateway> {
  const options = { ...UPSTREAM_DEFAULTS, ...choice.options };
  const gate = createUpstreamGate(options, systemClock);
  const passthrough = createPassthrough({ origin: upstream, basePath: choice.basePath ?? '' }, options, {
    gate,
    rewriteUrls: choice.rewriteUrls ?? false,
  });
  const server = createServer((request, response) => {
    const context: PassthroughContext = {
      transparent: false,
      authorization: undefined,
      owner: { caller: undefined, address: '203.0.113.7' },
      publicAddress: 'https://public.example/p',
      onAnswer: (status, headers) => void gateway.heads.push({ status, headers }),
      onLegacyAddress: () => (gateway.legacyFound += 1),
      ...choice,
      arrival: arrivalOf(request),
    };
    const before = async () => choice.onResponse?.(response);
    const passing = before().then(() => passthrough.pass(request, response, context));
    passing.then(
      (result) => gateway.results.push(result),
      (error: unknown) => {
        if (error instanceof UpstreamFailure) gateway.results.push(error);
        if (response.destroyed) return;
        response.statusCode = 502;
        response.end(error instanceof UpstreamFailure ? error.kind : String(error));
      },
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.add(() => {
    passthrough.close();
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const gateway: TestGateway = {
    port,
    origin: `http://127.0.0.1:${port}`,
    gate,
    results: [],
    heads: [],
    legacyFound: 0,
  };
  return gateway;
}

/** An arrival as the edge reads it, with fixed identity. */
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
