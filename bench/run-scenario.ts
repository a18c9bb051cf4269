import { askEachKey } from './closed-load.ts';
import { countMetric } from './count-metric.ts';
import { formatNumber } from './format-number.ts';
import { freePort } from './free-port.ts';
import type { StartedPeer } from './peers/peer.ts';
import type { Progress } from './progress.ts';
import { type Proof, proveAnswer } from './prove-answer.ts';
import type { Entry, Scenario } from './scenarios/scenario.ts';
import { type Spread, spreadOf } from './spread.ts';
import type { Upstream } from './start-upstream.ts';
import { runWrk } from './wrk.ts';

/** One round of one server. */
export interface Round {
  readonly requestsPerSecond: number;
  readonly cpuUs: number;
}

/** What a scenario says of one server. */
export interface ScenarioRow {
  readonly peer: string;
  readonly label: string;
  readonly authenticates: boolean;
  readonly rounds: readonly Round[];
  /** Rounds that were repeated, because nothing was answered in them: the machine was busy with something else. */
  readonly stalls: number;
  readonly requestsPerSecond: Spread;
  /** Processor time of the server's whole process tree for one request, in microseconds. */
  readonly cpuUs: Spread;
  /** Resident memory at the end of the scenario, in bytes. */
  readonly rssBytes: number;
  readonly answerBytes: number;
  readonly encoding: string | undefined;
  readonly configuration: string;
}

/** What a scenario says; peers that could not be started for want of a program are named with the reason. */
export interface ScenarioResult {
  readonly id: string;
  readonly title: string;
  readonly rows: readonly ScenarioRow[];
  readonly skipped: readonly { readonly peer: string; readonly label: string; readonly reason: string }[];
}

/** What scenarios are run with. */
export interface RunContext {
  readonly folder: string;
  readonly upstream: Upstream;
  readonly progress: Progress;
  /** Programs that are missing, each with how to get it. */
  readonly missing: ReadonlyMap<string, string>;
  /** How long each server is warmed before its rounds. */
  readonly warmSeconds: number;
}

/** A server that runs and has proved its answer. */
export interface Running {
  readonly entry: Entry;
  readonly started: StartedPeer;
  readonly proof: Proof;
  readonly rounds: Round[];
  /** Rounds that had to be repeated, because nothing was answered in them. */
  stalls: number;
}

/** Starts every server, proves its answers, warms it, and measures in rounds whose order rotates. */
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
      await proveAnswer(`${entry.peer.label}, after the rounds`, started.port, scenario, entry.asked);
    for (const [at, one] of running.entries()) {
      const violations = (await violationsOf(one)) - (violationsBefore[at] ?? 0);
      if (violations > 0) throw new Error(`${one.entry.peer.label}, ${id}: ${violations} violations were counted`);
    }
    return { id, title, rows: running.map(toRow), skipped };
  } finally {
    await Promise.all(running.map(({ started }) => started.running.stop()));
  }
}

/** Starts a server and proves its answer; stops it again when it proves the wrong thing. */
export async function startEntry(
  scenario: Scenario,
  entry: Entry,
  { upstream, folder }: Pick<RunContext, 'upstream' | 'folder'>,
): Promise<Running> {
  const upstreamPort = upstream.portOf(scenario.size, scenario.upstream);
  const started = await entry.peer.start({ upstreamPort, port: await freePort(), folder });
  try {
    const proof = await proveAnswer(entry.peer.label, started.port, scenario, entry.asked);
    return { entry, started, proof, rounds: [], stalls: 0 };
  } catch (error) {
    await started.running.stop();
    throw error;
  }
}

/** A short round on a machine that is busy otherwise may pass without an answer; it is repeated once, longer, and told. */
const STALL_SECONDS = 1.5;

/** One round; throws when any answer was not what it should be, and tells when the server has ended. */
export async function measureRound(scenario: Scenario, one: Running, seconds: number): Promise<Round> {
  try {
    return await loadRound(scenario, one, seconds);
  } catch (error) {
    throw explained(error, scenario, one);
  }
}

function explained(error: unknown, { id }: Scenario, { entry, started }: Running): Error {
  const words = started.running.lastWords();
  const what = [(error as Error).message, ...(words === undefined ? [] : [words])].join('; the server has ');
  return new Error(`${entry.peer.label}, ${id}: ${what}`, { cause: error });
}

async function loadRound(scenario: Scenario, one: Running, seconds: number): Promise<Round> {
  const { entry, started, proof } = one;
  const { asked } = entry;
  started.running.emptyOutput();
  const { path, keys } = asked;
  const load = { port: started.port, path, headers: proof.sent, connections: scenario.connections, seconds };
  const countedBefore = await counted(one);
  const before = started.running.cpuNs();
  const result = await runWrk(keys === undefined ? load : { ...load, keys });
  const cpuNs = started.running.cpuNs() - before;
  // A server that has died, or a system that tells nothing, must not look like one that costs nothing.
  if (!(cpuNs > 0)) throw new Error('no processor time could be read');
  const grown = (await counted(one)) - countedBefore;
  if (result.requests === 0) {
    if (one.stalls > 0) throw new Error('a second round without any answer');
    one.stalls += 1;
    return loadRound(scenario, one, Math.max(seconds, STALL_SECONDS));
  }
  if (asked.counted !== undefined && grown < result.requests)
    throw new Error(`metrics counted ${grown} of ${result.requests} as what was meant`);
  const wantedErrors = asked.status > 399 ? result.requests : 0;
  if (result.errorStatuses !== wantedErrors)
    throw new Error(`${result.errorStatuses} of ${result.requests} had error statuses`);
  // Bytes per answer tell 200 from 304 and a page from something shorter without looking at each answer.
  const bytes = result.bytes / result.requests;
  if (Math.abs(bytes - proof.bytes) > Math.max(24, proof.bytes * 0.01))
    throw new Error(`answers had ${bytes.toFixed(0)} bytes instead of ${proof.bytes}`);
  return { requestsPerSecond: result.requests / result.seconds, cpuUs: cpuNs / 1000 / result.requests };
}

/** How often every key is asked for before the rounds: once to be kept, once to be met as what is kept. */
export const KEY_PASSES = 2;

/** Asks for every key where there are several, so that in a round none of them is new or met for the first time. */
export async function warmKeys(running: readonly Running[], { progress }: Pick<RunContext, 'progress'>): Promise<void> {
  for (const { entry, started, proof } of running) {
    const { keys, path } = entry.asked;
    if (keys === undefined || keys < 2) continue;
    const all = keys * KEY_PASSES;
    for (let asked = 0; asked < all;) {
      const from = asked % keys;
      const to = Math.min(keys, from + 5000);
      await askEachKey({ port: started.port, path, headers: proof.sent, connections: 32, from, to });
      asked += to - from;
      const share = `${formatNumber(asked, 0)} of ${formatNumber(all, 0)}`;
      progress.tick(`filling ${entry.peer.label}: ${share} requests`);
    }
  }
}

async function counted({ entry, started }: Running): Promise<number> {
  const { adminPort } = started;
  const pattern = entry.asked.counted;
  return adminPort === undefined || pattern === undefined ? 0 : countMetric(adminPort, pattern);
}

/** Violations that Portico counted in answers of the upstream; there must be none, or not the page was measured. */
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
