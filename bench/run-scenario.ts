import { requestEachKey } from './closed-load.ts';
import { countMetric } from './count-metric.ts';
import { formatNumber } from './format-number.ts';
import { freePort } from './free-port.ts';
import type { StartedPeer } from './peers/peer.ts';
import type { Progress } from './progress.ts';
import { type Proof, verifyResponse } from './verify-response.ts';
import type { Entry, Scenario } from './scenarios/scenario.ts';
import { type Spread, spreadOf } from './spread.ts';
import type { Upstream } from './start-upstream.ts';
import { runWrk } from './wrk.ts';

/** One round of one server. */
export interface Round {
  readonly requestsPerSecond: number;
  readonly cpuUs: number;
}

/** The results of one server in a scenario. */
export interface ScenarioRow {
  readonly peer: string;
  readonly label: string;
  readonly authenticates: boolean;
  readonly rounds: readonly Round[];
  /** Rounds that were repeated because no response arrived: the machine was busy with something else. */
  readonly stalls: number;
  readonly requestsPerSecond: Spread;
  /** CPU time of the server's whole process tree for one request, in microseconds. */
  readonly cpuUs: Spread;
  /** Resident memory at the end of the scenario, in bytes. */
  readonly rssBytes: number;
  readonly answerBytes: number;
  readonly encoding: string | undefined;
  readonly configuration: string;
}

/** The results of a scenario. Peers whose program is not installed are listed with the reason. */
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
  /** Programs that are not installed, each with the command that installs it. */
  readonly missing: ReadonlyMap<string, string>;
  /** Duration of the warm-up of each server in seconds. */
  readonly warmSeconds: number;
}

/** A running server whose response was verified. */
export interface Running {
  readonly entry: Entry;
  readonly started: StartedPeer;
  readonly proof: Proof;
  readonly rounds: Round[];
  /** Rounds that were repeated because no response arrived. */
  stalls: number;
}

/** Starts all servers, verifies their responses, warms them up, and measures them in rounds whose order rotates. */
export async function runScenario(scenario: Scenario, context: RunContext): Promise<ScenarioResult> {
  const { progress, missing } = context;
  const { id, title, entries, rounds } = scenario;
  const skipped = entries.flatMap(({ peer }) => {
    const reason = peer.needs === undefined ? undefined : missing.get(peer.needs);
    return reason === undefined ? [] : [{ peer: peer.id, label: peer.label, reason }];
  });
  const runnable = entries.filter(({ peer }) => !skipped.some((one) => one.peer === peer.id));
  const running: Running[] = [];
  progress.say(title);
  try {
    for (const entry of runnable) {
      running.push(await startEntry(scenario, entry, context));
    }
    await warmKeys(running, context);
    const violationsBefore = await Promise.all(running.map((one) => violationsOf(one)));
    for (const one of running) {
      progress.tick(`${id}: warming ${one.entry.peer.label}`);
      await measureRound(scenario, one, context.warmSeconds);
    }
    for (let round = 0; round < rounds.count; round += 1) {
      for (let at = 0; at < running.length; at += 1) {
        const one = running[(at + round) % running.length];
        if (one === undefined) continue;
        progress.tick(`${id}: round ${round + 1} of ${rounds.count}, ${one.entry.peer.label}`);
        one.rounds.push(await measureRound(scenario, one, rounds.seconds));
      }
    }
    for (const { entry, started } of running)
      await verifyResponse(`${entry.peer.label}, after the rounds`, started.port, scenario, entry.request);
    for (const [at, one] of running.entries()) {
      const violations = (await violationsOf(one)) - (violationsBefore[at] ?? 0);
      if (violations > 0) throw new Error(`${one.entry.peer.label}, ${id}: ${violations} violations were counted`);
    }
    return { id, title, rows: running.map(toRow), skipped };
  } finally {
    await Promise.all(running.map(({ started }) => started.running.stop()));
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
    return { entry, started, proof, rounds: [], stalls: 0 };
  } catch (error) {
    await started.running.stop();
    throw error;
  }
}

/** On a busy machine, a short round may end without a response. It is repeated once, with this minimum duration. */
const STALL_SECONDS = 1.5;

/** Runs one round. Throws if a response was wrong or the server has ended. */
export async function measureRound(scenario: Scenario, one: Running, seconds: number): Promise<Round> {
  try {
    return await loadRound(scenario, one, seconds);
  } catch (error) {
    throw explained(error, scenario, one);
  }
}

function explained(error: unknown, { id }: Scenario, { entry, started }: Running): Error {
  const words = started.running.exitMessage();
  const what = [(error as Error).message, ...(words === undefined ? [] : [words])].join('; the server has ');
  return new Error(`${entry.peer.label}, ${id}: ${what}`, { cause: error });
}

async function loadRound(scenario: Scenario, one: Running, seconds: number): Promise<Round> {
  const { entry, started, proof } = one;
  const { request } = entry;
  started.running.emptyOutput();
  const { path, keys } = request;
  const load = { port: started.port, path, headers: proof.sent, connections: scenario.connections, seconds };
  const countedBefore = await counted(one);
  const before = started.running.cpuNs();
  const result = await runWrk(keys === undefined ? load : { ...load, keys });
  const cpuNs = started.running.cpuNs() - before;
  // A server that has ended, or a system that reports no CPU time, must not look like a server without any cost.
  if (!(cpuNs > 0)) throw new Error('the CPU time could not be read');
  const grown = (await counted(one)) - countedBefore;
  if (result.requests === 0) {
    if (one.stalls > 0) throw new Error('a second round without any response');
    one.stalls += 1;
    return loadRound(scenario, one, Math.max(seconds, STALL_SECONDS));
  }
  if (request.counted !== undefined && grown < result.requests)
    throw new Error(`the metrics counted only ${grown} of ${result.requests} requests as expected`);
  const wantedErrors = request.status > 399 ? result.requests : 0;
  if (result.errorStatuses !== wantedErrors)
    throw new Error(`${result.errorStatuses} of ${result.requests} had error statuses`);
  // The bytes per response distinguish 200 from 304, and a page from a shorter body, without parsing each response.
  const bytes = result.bytes / result.requests;
  if (Math.abs(bytes - proof.bytes) > Math.max(24, proof.bytes * 0.01))
    throw new Error(`responses had ${bytes.toFixed(0)} bytes instead of ${proof.bytes}`);
  return { requestsPerSecond: result.requests / result.seconds, cpuUs: cpuNs / 1000 / result.requests };
}

/** How often every key is requested before the rounds: once to store its response, and once as a hit. */
export const KEY_PASSES = 2;

/** Requests each of several keys, so that in a round no key is new or is a hit for the first time. */
export async function warmKeys(running: readonly Running[], { progress }: Pick<RunContext, 'progress'>): Promise<void> {
  for (const { entry, started, proof } of running) {
    const { keys, path } = entry.request;
    if (keys === undefined || keys < 2) continue;
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
}

async function counted({ entry, started }: Running): Promise<number> {
  const { adminPort } = started;
  const pattern = entry.request.counted;
  return adminPort === undefined || pattern === undefined ? 0 : countMetric(adminPort, pattern);
}

/** Returns the number of violations in the upstream's responses. There must not be any. */
async function violationsOf({ started: { adminPort } }: Running): Promise<number> {
  return adminPort === undefined
    ? 0
    : countMetric(adminPort, /^portico_contract_violations_total\{.*direction="response"/);
}

function toRow({ entry: { peer }, started, proof, rounds, stalls }: Running): ScenarioRow {
  return {
    peer: peer.id,
    label: peer.label,
    authenticates: peer.authenticates,
    rounds,
    stalls,
    requestsPerSecond: spreadOf(rounds.map((round) => round.requestsPerSecond)),
    cpuUs: spreadOf(rounds.map((round) => round.cpuUs)),
    rssBytes: started.running.rssBytes(),
    answerBytes: proof.bytes,
    encoding: proof.encoding,
    configuration: started.configuration,
  };
}
