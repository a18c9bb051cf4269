import { mkdirSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { loadStart, type Start } from '../../src/engine/load-start.ts';
import { loadSettings } from '../../src/portico-settings.ts';
import type { Settings } from '../../src/engine/config/settings.ts';
import { FEATURES } from '../../src/features.ts';
import { assembleGateway, type Assembly } from '../../src/engine/gateway.ts';
import { systemClock } from '../../src/lib/clock.ts';
import type { Arrival } from '../../src/engine/model/arrival.ts';
import { createTrace, type Trace } from '../../src/engine/model/trace.ts';
import { dispatch } from '../../src/engine/pipeline/dispatch.ts';
import type { Exchange } from '../../src/engine/pipeline/exchange.ts';
import type { Plan } from '../../src/engine/pipeline/plan.ts';
import type { OperationTarget } from '../../src/engine/pipeline/targets.ts';
import { questionPage } from '../pages.ts';
import { PAGE_PATH } from '../cases.ts';
import { REQUEST_HEADERS } from '../peers/credentials.ts';
import { writeConfiguration } from '../peers/portico.ts';

/** The real gateway without sockets, and the data for a single cache hit. */
export interface Fixture {
  readonly settings: Settings;
  readonly start: Start;
  readonly assembly: Assembly;
  readonly plan: Plan;
  readonly arrival: Arrival;
  readonly exchange: Exchange;
  /** The hit's trace at the moment it is counted and logged. */
  readonly trace: Trace;
  /** The page's resolved target. */
  readonly target: OperationTarget;
  /** The 29 kB page. */
  readonly body: Buffer;
  /** Returns a plain request like those that the HTTP parser creates. All its strings are new. */
  request(): Pick<IncomingMessage, 'method' | 'url' | 'headers'>;
}

const AUTHORIZATION = REQUEST_HEADERS.Authorization;

/** Assembles Portico in front of the upstream with the benchmark's configuration, and sends the request twice. */
export async function createFixture(folder: string, upstreamPort: number): Promise<Fixture> {
  mkdirSync(folder, { recursive: true });
  // Nothing listens on these ports. They appear only in the configuration.
  const file = writeConfiguration({ folder, port: 1, adminPort: 2, upstreamPort, cache: true });
  const settings = loadSettings({ env: { PORTICO_CONFIG: file }, cwd: folder });
  const assembly = assembleGateway(settings, { env: {}, logStream: { write: () => undefined } });
  const served = async () => {
    const trace = traceOf();
    return { trace, dispatched: await dispatch(assembly.gateway, arrivalOf(), trace) };
  };
  await served();
  const { trace, dispatched } = await served();
  Object.assign(trace, { status: 200, seconds: 0.000_123, bytes: 29_000 });
  const { plan, exchange } = dispatched;
  if (plan.operation === undefined || exchange === undefined || trace.cache?.status !== 'hit')
    throw new Error('the second request for the page is not a hit');
  const target = assembly.gateway.targets.resolve(exchange.arrival);
  if (target.plan !== plan) throw new Error('the target of the page belongs to another plan');
  return {
    settings,
    start: loadStart(settings, { env: {}, features: FEATURES }),
    assembly,
    plan,
    arrival: exchange.arrival,
    exchange,
    trace,
    target,
    body: questionPage('29k'),
    request: () => ({
      method: 'GET',
      url: fresh(PAGE_PATH),
      headers: { host: fresh('127.0.0.1:8080'), authorization: fresh(AUTHORIZATION), accept: 'application/json' },
    }),
  };
}

/** Returns a copy of the string. V8 must compute the hash of the copy, as it must for any string from a socket. */
export function fresh(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}

function traceOf(): Trace {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  return createTrace({
    requestId: '9f1c1f0e-6d5c-4f0e-9a53-1f3f4bb1c111',
    traceparent,
    method: 'GET',
    startedAt: systemClock(),
  });
}

function arrivalOf(): Arrival {
  const { requestId, traceparent, startedAt } = traceOf();
  const mark = PAGE_PATH.indexOf('?');
  return {
    method: 'GET',
    rawTarget: PAGE_PATH,
    target: PAGE_PATH,
    path: PAGE_PATH.slice(0, mark),
    query: PAGE_PATH.slice(mark + 1),
    authorization: AUTHORIZATION,
    otherCredential: undefined,
    headers: { host: '127.0.0.1:8080', authorization: AUTHORIZATION, accept: 'application/json' },
    rawHeaders: ['Host', '127.0.0.1:8080', 'Authorization', AUTHORIZATION, 'Accept', 'application/json'],
    clientAddress: '127.0.0.1',
    host: '127.0.0.1:8080',
    protocol: 'http',
    requestId,
    traceparent,
    tracestate: undefined,
    receivedAt: startedAt,
    body: Readable.from([]),
  };
}
