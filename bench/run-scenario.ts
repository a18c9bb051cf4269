import { requestEachKey } from './closed-load.ts';
import { countMetric } from './count-metric.ts';
import { type CpuTimes, mapTimes, totalOf } from './cpu-time.ts';
import { formatNumber } from './format-number.ts';
import { freePort } from './free-port.ts';
import { withNeighbor } from './neighbor.ts';
import type { StartedPeer } from './peers/peer.ts';
import type { Progress } from './progress.ts';
import { type Proof, verifyResponse } from './verify-response.ts';
import type { Entry, Scenario, SlowPeer } from './scenarios/scenario.ts';
import { type Spread, spreadOf } from './spread.ts';
import type { Upstream } from './start-upstream.ts';
import { warmUp, type WarmUpResult, type WarmUpRule } from './warm-up.ts';
import { type LoadResult, runWrk } from './wrk.ts';
import { measureYardstick } from './yardstick.ts';

/** One round of measurements of a single server. */
export interface Round {
  readonly requests: number;
  readonly requestsPerSecond: number;
  /** The CPU time of a single request in microseconds, summed over all of the server's processes and threads. */
  readonly cpuUs: number;
  /** The CPU time of a single request by thread group, in microseconds. */
  readonly threadsUs: CpuTimes;
}

/** The results of a single server in a scenario. */
export interface ScenarioRow {
  readonly peer: string;
  readonly label: string;
  readonly authenticates: boolean;
  readonly rounds: readonly Round[];
  /** The number of rounds that were repeated because the machine was too busy for any response to arrive. */
  readonly stalls: number;
  readonly requestsPerSecond: Spread;
  /** The CPU time of a single request in microseconds, summed over all of the server's processes and threads. */
  readonly cpuUs: Spread;
  /** The median CPU times by thread group, in microseconds. */
  readonly threadsUs: CpuTimes;
  readonly warmUp: WarmUpResult;
  /** Set if the server is slow and its warm-up is therefore shorter. */
  readonly slow: SlowPeer | undefined;
  /** The CPU time that a fixed task took on the same core before the server started, in milliseconds. */
  readonly yardstickMs: number;
  /** Resident memory after the rounds, in bytes. */
  readonly rssBytes: number;
  readonly responseBytes: number;
  readonly encoding: string | undefined;
  readonly configuration: string;
}

/**
 * The results of a scenario. Peers that could not be measured because a program is missing are listed with the reason.
 */
export interface ScenarioResult {
  readonly id: string;
  readonly title: string;
  readonly rows: readonly ScenarioRow[];
  readonly skipped: readonly { readonly peer: string; readonly label: string; readonly reason: string }[];
}

/** The environment of a run. */
export interface RunContext {
  readonly folder: string;
  readonly upstream: Upstream;
  readonly progress: Progress;
  /** The programs that are not installed, each with the command that installs it. */
  readonly missing: ReadonlyMap<string, string>;
  readonly warmUp: WarmUpRule;
}

/** A running server whose response has been verified. */
export interface Running {
  readonly entry: Entry;
  readonly started: StartedPeer;
  readonly proof: Proof;
  /** The number of rounds repeated because no response arrived. */
  stalls: number;
  /** The next key to request. Used in scenarios that request each key only once. */
  nextKey: number;
}

/**
 * Measures the servers one after another. Each server is started, verified, warmed up, measured in all rounds and
 * stopped before the next one starts.
 */
export async function runScenario(scenario: Scenario, context: RunContext): Promise<ScenarioResult> {
  const { progress, missing } = context;
  const { id, title, entries } = scenario;
  const rows: ScenarioRow[] = [];
  const skipped: ScenarioResult['skipped'][number][] = [];
  progress.say(title);
  for (const entry of entries) {
    const { needs, id: peer, label } = entry.peer;
    const reason = needs === undefined ? undefined : missing.get(needs);
    if (reason === undefined) rows.push(await measureEntry(scenario, entry, context));
    else skipped.push({ peer, label, reason });
  }
  return { id, title, rows, skipped };
}

async function measureEntry(scenario: Scenario, entry: Entry, context: RunContext): Promise<ScenarioRow> {
  const { progress } = context;
  const { rounds, id } = scenario;
  const yardstickMs = await measureYardstick();
  const one = await startEntry(scenario, entry, context);
  try {
    const violationsBefore = await violationsOf(one);
    const warmed = await warmEntry(scenario, one, context);
    const measureAll = async () => {
      const measured: Round[] = [];
      for (let round = 0; round < rounds.count; round += 1) {
        progress.tick(`${id}: ${entry.peer.label}, round ${round + 1} of ${rounds.count}`);
        measured.push(await measureRound(scenario, one, rounds.seconds));
      }
      return measured;
    };
    const measured = scenario.hasNeighbor === true ? await withNeighbor(measureAll) : await measureAll();
    await verifyResponse(`${entry.peer.label}, after the rounds`, one.started.port, scenario, entry.request);
    const violations = (await violationsOf(one)) - violationsBefore;
    if (violations > 0) throw new Error(`${entry.peer.label}, ${id}: ${violations} violations were counted`);
    return toRow(one, measured, warmed, yardstickMs);
  } finally {
    await one.started.running.stop();
  }
}

/** Starts a server and verifies its response. Stops the server if the response is wrong. */
export async function startEntry(
  scenario: Scenario,
  entry: Entry,
  { upstream, folder }: Pick<RunContext, 'upstream' | 'folder'>,
): Promise<Running> {
  const upstreamPort = upstream.portOf(scenario.size, scenario.upstream);
  const started = await entry.peer.start({ upstreamPort, port: await freePort(), folder });
  try {
    const proof = await verifyResponse(entry.peer.label, started.port, scenario, entry.request);
    return { entry, started, proof, stalls: 0, nextKey: 0 };
  } catch (error) {
    await started.running.stop();
    throw error;
  }
}

/** Requests all keys, if there are several, and then warms up the server according to the rule for the run. */
export async function warmEntry(
  scenario: Scenario,
  one: Running,
  { progress, warmUp: rule }: Pick<RunContext, 'progress' | 'warmUp'>,
): Promise<WarmUpResult> {
  const { entry, started } = one;
  await requestAllKeys(one, progress);
  const requests = Math.min(rule.requests, entry.slow?.requests ?? rule.requests);
  return warmUp({ ...rule, requests }, async (seconds) => {
    progress.tick(`${scenario.id}: warming ${entry.peer.label}`);
    const before = started.optimizations?.() ?? 0;
    const { result } = await guarded(scenario, one, () => loadRound(scenario, one, seconds));
    const after = started.optimizations?.();
    const optimizations = after === undefined ? undefined : after - before;
    return { requests: result.requests, seconds: result.seconds, optimizations };
  });
}

/** Runs one round. Throws if a response is wrong or if the server has exited. */
export async function measureRound(scenario: Scenario, one: Running, seconds: number): Promise<Round> {
  const { result, cpuNs } = await guarded(scenario, one, () => loadRound(scenario, one, seconds));
  const threadsUs = mapTimes((group) => cpuNs[group] / 1000 / result.requests);
  const { requests } = result;
  return { requests, requestsPerSecond: requests / result.seconds, cpuUs: totalOf(threadsUs), threadsUs };
}

async function guarded<T>({ id }: Scenario, { entry, started }: Running, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    const words = started.running.exitMessage();
    const what = [(error as Error).message, ...(words === undefined ? [] : [words])].join('; the server has ');
    throw new Error(`${entry.peer.label}, ${id}: ${what}`, { cause: error });
  }
}

/**
 * On a busy machine, a short round can end without any response. Such a round is repeated once and then lasts at least
 * this many seconds.
 */
const STALL_SECONDS = 1.5;

/** The maximum number of requests that wrk sends in a round without counting them: one per connection. */
const UNCOUNTED = 1000;

interface LoadedRound {
  readonly result: LoadResult;
  readonly cpuNs: CpuTimes;
}

async function loadRound(scenario: Scenario, one: Running, seconds: number, isRepeated = false): Promise<LoadedRound> {
  const { entry, started, proof } = one;
  const { request } = entry;
  started.running.emptyOutput();
  const countedBefore = await counted(one);
  const before = started.running.cpuTimes();
  const result = await runWrk({
    port: started.port,
    path: request.path,
    headers: proof.sent,
    connections: scenario.connections,
    seconds,
    ...(request.keys === undefined ? {} : { keys: request.keys, firstKey: one.nextKey }),
  });
  const after = started.running.cpuTimes();
  const cpuNs = mapTimes((group) => after[group] - before[group]);
  if (request.keys === 'fresh') one.nextKey += result.requests + UNCOUNTED;
  // If a server has exited, or the system reports no CPU time for it, the results must not suggest that it used none.
  if (!(totalOf(cpuNs) > 0)) throw new Error('the CPU time could not be read');
  const grown = (await counted(one)) - countedBefore;
  if (result.requests === 0) {
    if (isRepeated) throw new Error('no response arrived, not even in the repeated round');
    one.stalls += 1;
    return loadRound(scenario, one, Math.max(seconds, STALL_SECONDS), true);
  }
  if (request.counted !== undefined && grown < result.requests)
    throw new Error(`the metrics counted only ${grown} of ${result.requests} requests as expected`);
  const wantedErrors = request.status > 399 ? result.requests : 0;
  if (result.errorStatuses !== wantedErrors)
    throw new Error(`${result.errorStatuses} of ${result.requests} responses had error statuses`);
  // The number of bytes per response shows whether the responses were 200 or 304 and whether the pages were complete,
  // so the responses do not have to be parsed.
  const bytes = result.bytes / result.requests;
  const tolerance = Math.max(24, proof.bytes * 0.01);
  // Of the responses that are under way when the round ends, wrk counts the bytes but not the request.
  const underWay = (proof.bytes * scenario.connections) / result.requests;
  if (bytes < proof.bytes - tolerance || bytes > proof.bytes + tolerance + underWay)
    throw new Error(`responses had ${bytes.toFixed(0)} bytes instead of ${proof.bytes}`);
  return { result, cpuNs };
}

/** How many times each key is requested before the rounds: once to store its response, and once to get a hit. */
export const KEY_PASSES = 2;

/**
 * If there are several keys, requests all of them in advance, so that the first request and the first hit for a key
 * never occur during the rounds.
 */
async function requestAllKeys({ entry, started, proof }: Running, progress: Progress): Promise<void> {
  const { keys, path } = entry.request;
  if (typeof keys !== 'number' || keys < 2) return;
  const all = keys * KEY_PASSES;
  for (let requested = 0; requested < all;) {
    const from = requested % keys;
    const to = Math.min(keys, from + 5000);
    await requestEachKey({ port: started.port, path, headers: proof.sent, connections: 32, from, to });
    requested += to - from;
    const share = `${formatNumber(requested, 0)} of ${formatNumber(all, 0)}`;
    progress.tick(`filling ${entry.peer.label}: ${share} requests`);
  }
}

async function counted({ entry, started }: Running): Promise<number> {
  const { adminPort } = started;
  const pattern = entry.request.counted;
  return adminPort === undefined || pattern === undefined ? 0 : countMetric(adminPort, pattern);
}

/**
 * Both patterns match counters of violations in responses. The first matches all of them, and the second only those
 * that a page with undocumented fields should not increase.
 */
const VIOLATIONS = /^portico_contract_violations_total\{.*direction="response"/;
const UNEXPECTED_VIOLATIONS = /^portico_contract_violations_total\{(?!.*category="undocumented").*direction="response"/;

/** Returns the number of unexpected violations in the upstream's responses. It must be 0. */
async function violationsOf({ entry, started: { adminPort } }: Running): Promise<number> {
  const pattern = entry.request.undocumented === true ? UNEXPECTED_VIOLATIONS : VIOLATIONS;
  return adminPort === undefined ? 0 : countMetric(adminPort, pattern);
}

function toRow(
  { entry: { peer, slow }, started, proof, stalls }: Running,
  rounds: readonly Round[],
  warmed: WarmUpResult,
  yardstickMs: number,
): ScenarioRow {
  return {
    peer: peer.id,
    label: peer.label,
    authenticates: peer.authenticates,
    rounds,
    stalls,
    requestsPerSecond: spreadOf(rounds.map((round) => round.requestsPerSecond)),
    cpuUs: spreadOf(rounds.map((round) => round.cpuUs)),
    threadsUs: mapTimes((group) => spreadOf(rounds.map(({ threadsUs }) => threadsUs[group])).median),
    warmUp: warmed,
    slow,
    yardstickMs,
    rssBytes: started.running.rssBytes(),
    responseBytes: proof.bytes,
    encoding: proof.encoding,
    configuration: started.configuration,
  };
}
