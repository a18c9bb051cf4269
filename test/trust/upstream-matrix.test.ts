import type { Socket } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ClientResponse, Call } from '../builders/call.ts';
import { exampleOf } from '../builders/contract-examples.ts';
import { createTestClock, type TestClock } from '../builders/test-clock.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';
import { until } from '../builders/until.ts';
import { CIRCUIT_SECONDS, CONNECTION_FAULTS, type ConnectionFault } from './support/connection-faults.ts';
import { type RawRequest, type RawUpstream, serveRaw, startRawUpstream } from './support/raw-upstream.ts';
import {
  type Fault,
  MAX_RESPONSE_BYTES,
  type Outcome,
  playFault,
  RESPONSE_FAULTS,
  type ResponseFault,
  type ValidResponse,
} from './support/response-faults.ts';

/*
 * Tests every upstream fault in every situation and every mode. All of a mode's requests are sent at the same time to
 * one gateway, whose upstream recognizes each case by an id in the request. The tests then compare the results with the
 * tables in `support/`.
 */

/** The timeouts for an upstream that is not silent. They are long enough for a busy machine. */
const LONG = { connectTimeoutMs: 90_000, headersTimeoutMs: 90_000, bodyTimeoutMs: 90_000, totalTimeoutMs: 100_000 };
/** The timeouts for a silent upstream and for one whose body does not end. */
const SHORT = { connectTimeoutMs: 700, headersTimeoutMs: 700, bodyTimeoutMs: 700, totalTimeoutMs: 1200 };
const SHORT_IN_TOTAL = { ...LONG, totalTimeoutMs: SHORT.totalTimeoutMs };
/** How long a client waits, in milliseconds. It waits longer if a timeout is expected to end the request. */
const PATIENCE_MS = { unlimited: 2000, limited: 120_000 };
/**
 * All requests are sent in one hook. They take several seconds of CPU time, so the hook can take a minute on a busy
 * machine.
 */
const HOOK_MS = 300_000;
/** The number of requests that each gateway receives at the same time. */
const CONCURRENT = 40;

const SETTINGS = {
  observe: { mode: 'observe' },
  staging: { mode: 'staging' },
  strict: { mode: 'strict' },
  'strict with responses enforced': { mode: 'strict', checks: { responses: 'enforce' } },
} as const;
type Setting = keyof typeof SETTINGS;
const SETTING_NAMES = Object.keys(SETTINGS) as Setting[];

/** The situations in which each fault is tested. The test's clock determines the age of stored pages. */
const SITUATIONS = [
  'a fresh page',
  'a stale page',
  'an expired page',
  'a page that is not stored',
  'an upload',
  'an undocumented read',
  'an undocumented write',
] as const;
type Situation = (typeof SITUATIONS)[number];
const STORED = SITUATIONS.slice(0, 3);
const WRITES: ReadonlySet<Situation> = new Set(['an upload', 'an undocumented write']);

interface Case {
  /** Identifies the requests of this case. */
  readonly id: number;
  readonly fault: Fault;
  readonly situation: Situation;
  readonly setting: Setting;
}

/** Returns the situations and connection faults to use when testing a setting. */
function scopeOf(setting: Setting): {
  readonly situations: readonly Situation[];
  readonly connectionFaults: readonly ConnectionFault[];
} {
  // `checks.responses` matters only for responses to documented requests. After a connection fault, there is no
  // response.
  if (setting === 'strict with responses enforced')
    return {
      situations: ['a stale page', 'an expired page', 'a page that is not stored', 'an upload'],
      connectionFaults: [],
    };
  // In `observe` mode, no pages are stored.
  const situations = setting === 'observe' ? SITUATIONS.filter((one) => !STORED.includes(one)) : SITUATIONS;
  return { situations, connectionFaults: CONNECTION_FAULTS };
}

let nextId = 1_000_000;
const CASES: readonly Case[] = SETTING_NAMES.flatMap((setting) => {
  const { situations, connectionFaults } = scopeOf(setting);
  return situations.flatMap((situation) =>
    [...connectionFaults, ...RESPONSE_FAULTS].map((fault): Case => ({ id: nextId++, fault, situation, setting })),
  );
});
const BY_ID: ReadonlyMap<number, Case> = new Map(CASES.map((one) => [one.id, one]));

function requestOf({ id, situation }: Case): { readonly target: string; readonly call: Call } {
  const headers = { 'X-Request-Id': `case-${id}` };
  const undocumented = `/services/v2/article/${id}/any.json`;
  if (situation === 'an upload') {
    const body = { content: `username\nu${id}\n` };
    return { target: '/services/v2/users/gdpr/upload.json', call: { method: 'POST', headers, body } };
  }
  if (situation === 'an undocumented write')
    return { target: undocumented, call: { method: 'POST', headers, body: { id } } };
  const target = situation === 'an undocumented read' ? undocumented : `/services/v2/answer/${id}/comment.json`;
  return { target, call: { headers } };
}

const PAGE = Buffer.from(JSON.stringify(exampleOf('listAnswerComments')));
const UPLOADED = Buffer.from(JSON.stringify(exampleOf('uploadGdprFile')));
const UNDOCUMENTED = Buffer.from('{"passed":true}');

function validResponseTo({ target }: { readonly target: string }): ValidResponse {
  if (target.includes('/gdpr/')) return { status: 201, body: UPLOADED };
  return { status: 200, body: target.includes('/answer/') ? PAGE : UNDOCUMENTED };
}

/** What the client received. */
interface Result {
  /** The response. Undefined if the connection was closed without a response. */
  readonly response: ClientResponse | undefined;
  readonly gaveUp: boolean;
}

/** A request that does not belong to a case. */
const ANY = '/services/v2/article/1/any.json';

/** A gateway with its upstream, and the cases whose requests it receives. */
interface World {
  readonly cases: readonly Case[];
  readonly gateway: TestGateway;
  readonly upstream: RawUpstream;
  readonly clock: TestClock;
  /** True if the first failure opens the circuit. */
  readonly opensCircuit: boolean;
  readonly break: () => Promise<void>;
  readonly repair: () => Promise<void>;
}

/** For each case, the number of requests that reached the broken upstream. */
const arrivals = new Map<number, number>();
const results = new Map<number, Result>();
/** The results of the same requests after the upstream was repaired. */
const afterwards = new Map<number, Result>();
const worlds: World[] = [];
let resourcesBefore: readonly string[] = [];

async function startWorld(setting: Setting, faults: readonly Fault[]): Promise<World> {
  const [first] = faults;
  const fault = first !== undefined && 'prepare' in first ? (first as ConnectionFault) : undefined;
  const opensCircuit = fault?.opensCircuit === true;
  const clock = createTestClock();
  let broken = false;
  const play = (socket: Socket, request: RawRequest) => {
    const id = Number(/1\d{6}/.exec(`${request.target} ${request.body.toString()}`)?.[0]);
    const valid = validResponseTo(request);
    const played = BY_ID.get(id)?.fault;
    if (broken) arrivals.set(id, (arrivals.get(id) ?? 0) + 1);
    if (broken && played !== undefined && 'send' in played)
      return playFault(socket, played as ResponseFault, valid, request.earlier);
    const head = `HTTP/1.1 ${valid.status} OK\r\nContent-Type: application/json\r\nContent-Length: ${valid.body.length}`;
    return void socket.write(Buffer.concat([Buffer.from(`${head}\r\n\r\n`), valid.body]));
  };
  const upstream = await startRawUpstream((socket) => serveRaw(socket, play));
  const connection = await fault?.prepare(upstream);
  const configWith = (limits: typeof LONG) => ({
    ...SETTINGS[setting],
    upstream: {
      ...limits,
      idleTimeoutMs: 500,
      maxResponseBytes: MAX_RESPONSE_BYTES,
      concurrency: 2000,
      streams: { total: 2000, perCaller: 2000, perAddress: 2000 },
      circuit: opensCircuit ? { failures: 1, openSeconds: CIRCUIT_SECONDS } : { failures: 100_000 },
    },
    undocumented: { allow: [{ method: '*', path: '/services/v2/**' }] },
    // So many responses are faulty that the check would be demoted.
    levels: { demote: { enabled: false } },
  });
  const url = connection?.url ?? `http://127.0.0.1:${upstream.port}`;
  const gateway = await startTestGateway({ upstream: url, config: configWith(LONG), clock });
  /** Only a silent upstream has short timeouts, because on a busy machine even a healthy upstream can be slow. */
  const limitTo = async (limits: typeof LONG) => {
    if (first?.isSilent !== true) return;
    const { outcome } = await gateway.reload({ config: configWith(limits) });
    if (outcome !== 'applied') throw new Error(`the reload was ${outcome}`);
  };
  return {
    cases: CASES.filter((one) => one.setting === setting && faults.includes(one.fault)),
    gateway,
    upstream,
    clock,
    opensCircuit,
    async break() {
      await limitTo(first?.isEndless === true ? SHORT_IN_TOTAL : SHORT);
      broken = true;
      await connection?.break();
    },
    async repair() {
      broken = false;
      await connection?.repair();
      await limitTo(LONG);
    },
  };
}

async function ask({ gateway }: World, one: Case, patienceMs: number): Promise<Result> {
  const { target, call } = requestOf(one);
  const signal = AbortSignal.timeout(patienceMs);
  const response = await gateway.call(target, { ...call, signal }).catch(() => undefined);
  return { response, gaveUp: signal.aborted };
}

const patienceOf = (one: Case) => (expectedOf(one) === 'waits' ? PATIENCE_MS.unlimited : PATIENCE_MS.limited);

const askHealthy = (world: World, one: Case) => ask(world, one, PATIENCE_MS.limited);
const askBroken = (world: World, one: Case) => ask(world, one, patienceOf(one));

/**
 * Sends each case's request in the situation that the case requires. Then repairs the upstream and sends all requests
 * except writes again.
 */
async function runWorld(world: World): Promise<void> {
  const askAll = async (situations: readonly Situation[], how: typeof askHealthy, into: Map<number, Result>) => {
    const waiting = world.cases.filter(({ situation }) => situations.includes(situation));
    const next = async (): Promise<void> => {
      const one = waiting.pop();
      if (one === undefined) return;
      into.set(one.id, await how(world, one));
      await next();
    };
    await Promise.all(Array.from({ length: CONCURRENT }, next));
  };
  await askAll(STORED, askHealthy, new Map());
  await world.break();
  if (world.opensCircuit) await world.gateway.call(ANY);
  await askAll(['a fresh page'], askBroken, results);
  world.clock.advance(40);
  await askAll(['a stale page'], askBroken, results);
  world.clock.advance(60);
  await askAll(SITUATIONS.slice(2), askBroken, results);
  // Stale pages are refreshed in the background.
  await until(() => world.gateway.gateway.services.upstream.stats().inFlight === 0);
  await world.repair();
  if (world.opensCircuit) {
    // After this time, one successful request is enough to close the circuit.
    world.clock.advance(CIRCUIT_SECONDS);
    await world.gateway.call(ANY);
  }
  await askAll([...STORED, 'a page that is not stored', 'an undocumented read'], askHealthy, afterwards);
}

beforeAll(async () => {
  resourcesBefore = process.getActiveResourcesInfo();
  for (const setting of SETTING_NAMES) {
    worlds.push(
      await startWorld(
        setting,
        RESPONSE_FAULTS.filter(({ isSilent }) => isSilent !== true),
      ),
    );
    for (const endless of [false, true])
      worlds.push(
        await startWorld(
          setting,
          RESPONSE_FAULTS.filter(({ isSilent, isEndless = false }) => isSilent === true && isEndless === endless),
        ),
      );
    for (const fault of scopeOf(setting).connectionFaults) worlds.push(await startWorld(setting, [fault]));
  }
  await Promise.all(worlds.map(runWorld));
}, HOOK_MS);

function expectedOf({ fault, situation, setting }: Case): Outcome {
  if (setting === 'observe') return fault.observed ?? fault.passed;
  if (situation.startsWith('an undocumented')) return fault.passed;
  if (situation === 'a fresh page' || situation === 'a stale page') return 'valid';
  const outcome = setting === 'strict with responses enforced' ? (fault.enforced ?? fault.built) : fault.built;
  return situation === 'an expired page' && outcome.startsWith('upstream_') ? 'valid' : outcome;
}

/** The messages that identify errors in `observe` mode, because these errors have no code. */
const LEGACY: Readonly<Record<string, Outcome>> = {
  'The upstream cannot be reached.': 'upstream_refused',
  'The connection to the upstream was lost.': 'upstream_reset',
  'The upstream did not respond in time.': 'upstream_timeout',
  'The headers of the upstream response are larger than upstream.maxResponseHeaderBytes allows.':
    'upstream_response_too_large',
};

function outcomeOf(one: Case, result: Result | undefined): string {
  if (result?.gaveUp === true) return 'waits';
  const { response } = result ?? {};
  if (response?.complete !== true) return 'broken';
  const { status, bytes, json, headers, rawHeaders, text } = response;
  const valid = validResponseTo(requestOf(one));
  const types = rawHeaders.filter((_, at) => at % 2 === 0).filter((name) => name.toLowerCase() === 'content-type');
  const isPlainJson =
    headers['content-type'] === 'application/json' && types.length === 1 && headers['content-encoding'] === undefined;
  if (status === valid.status && bytes.equals(valid.body) && isPlainJson) return 'valid';
  const sent = 'send' in one.fault ? (one.fault as ResponseFault).send(valid) : undefined;
  if (status === sent?.status && sent.body !== undefined && bytes.equals(sent.body)) return 'same';
  const code = one.setting === 'observe' ? LEGACY[json?.error ?? ''] : json?.code;
  if (
    code === undefined ||
    (one.setting !== 'observe' && (json?.status !== status || json.requestId !== `case-${one.id}`))
  )
    return `${status} ${text.slice(0, 200)}`;
  return code;
}

describe.each(SETTING_NAMES)('in %s, an upstream that', (setting) => {
  it.each(
    CASES.filter((one) => one.setting === setting).map(
      (one) => [one.fault.name, one.situation, expectedOf(one), one] as const,
    ),
  )('%s: %s → %s', (_name, situation, expected, one) => {
    const result = results.get(one.id);
    const outcome = outcomeOf(one, result);
    // On a busy machine, a stalled body can also exceed the short limits before its first byte arrives.
    const isLate = one.fault.isSilent === true && expected === 'broken' && outcome === 'upstream_timeout';
    expect(isLate ? expected : outcome).toBe(expected);
    // A read may be retried once if it failed on a connection that was already open. A write is never sent twice.
    const most = situation === 'a fresh page' ? 0 : WRITES.has(situation) ? 1 : 2;
    expect(arrivals.get(one.id) ?? 0).toBeLessThanOrEqual(most);
    if (!WRITES.has(situation)) expect(outcomeOf(one, afterwards.get(one.id))).toBe('valid');
  });
});

describe('after all faults', () => {
  it('no exchange, stream or connection is left open, and nothing failed unexpectedly', async () => {
    for (const { gateway, upstream } of worlds) {
      const { stats } = gateway.gateway.services.upstream;
      await until(() => stats().openConnections === 0 && upstream.sockets.size === 0);
      expect(stats()).toMatchObject({ inFlight: 0, queued: 0, streams: 0 });
      expect(gateway.log.filter((line) => line.includes('internal_error'))).toEqual([]);
    }
  });

  it('no socket, server or timer is left', async () => {
    await Promise.all(worlds.map(async ({ gateway, upstream }) => [await gateway.close(), await upstream.stop()]));
    const count = (resources: readonly string[], kind: string) => resources.filter((one) => one === kind).length;
    const left = () => {
      const now = process.getActiveResourcesInfo();
      return now.filter((kind) => count(now, kind) > count(resourcesBefore, kind));
    };
    await expect.poll(left).toEqual([]);
  });
});
