import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { LOAD_CORE } from './cores.ts';
import type { LatencySummary } from './latency-summary.ts';
import type { PacedLoad, PacedResult } from './paced-load.ts';
import { type Running, type RunContext, startEntry, warmEntry } from './run-scenario.ts';
import type { Entry, Rounds, Scenario } from './scenarios/scenario.ts';
import { spreadOf } from './spread.ts';
import type { WarmUpResult } from './warm-up.ts';
import { runWrk } from './wrk.ts';

/** The latencies of one server at half its peak rate. The peak rate is measured immediately beforehand. */
export interface LatencyRow {
  readonly peer: string;
  readonly label: string;
  readonly peakPerSecond: number;
  readonly perSecond: number;
  readonly rounds: readonly PacedResult[];
  /** The median across rounds for each percentile, in milliseconds. */
  readonly median: LatencySummary;
  readonly warmUp: WarmUpResult;
}

/** Measures the servers one after another, so that only one is running at a time. */
export async function measureLatency(
  scenario: Scenario,
  rounds: Rounds,
  context: RunContext,
): Promise<readonly LatencyRow[]> {
  const rows: LatencyRow[] = [];
  for (const entry of scenario.entries) {
    if (entry.peer.needs !== undefined && context.missing.has(entry.peer.needs)) continue;
    context.progress.say(`Latency at half the peak: ${entry.peer.label}`);
    rows.push(await measureEntry(scenario, entry, rounds, context));
  }
  return rows;
}

async function measureEntry(
  scenario: Scenario,
  entry: Entry,
  rounds: Rounds,
  context: RunContext,
): Promise<LatencyRow> {
  const one = await startEntry(scenario, entry, context);
  try {
    const warmed = await warmEntry(scenario, one, context);
    return { ...(await measureWarm(one, scenario.connections, rounds)), warmUp: warmed };
  } finally {
    await one.started.running.stop();
  }
}

async function measureWarm(
  { entry: { peer, request }, started: { running, port }, proof }: Running,
  connections: number,
  { count, seconds }: Rounds,
): Promise<Omit<LatencyRow, 'warmUp'>> {
  const load = { port, path: request.path, headers: proof.sent, connections };
  const peak = await runWrk({ ...load, seconds: 1 });
  const peakPerSecond = peak.requests / peak.seconds;
  const perSecond = peakPerSecond / 2;
  const rounds: PacedResult[] = [];
  for (let round = 0; round < count; round += 1) {
    running.emptyOutput();
    rounds.push(await runPaced({ ...load, perSecond, warmSeconds: 0.5, seconds }));
  }
  return { peer: peer.id, label: peer.label, peakPerSecond, perSecond, rounds, median: medianOf(rounds) };
}

/** Returns the median across rounds for each percentile. */
export function medianOf(rounds: readonly LatencySummary[]): LatencySummary {
  const of = (name: keyof LatencySummary) => spreadOf(rounds.map((round) => round[name])).median;
  return { p50: of('p50'), p99: of('p99'), p999: of('p999'), max: of('max') };
}

/** Runs the load in a separate process, where this process's garbage collections do not disturb it. */
function runPaced(load: PacedLoad): Promise<PacedResult> {
  return new Promise((resolve, reject) => {
    const file = join(import.meta.dirname, 'paced-load.ts');
    const child = spawn('taskset', ['-c', String(LOAD_CORE), process.execPath, file, JSON.stringify(load)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    let errors = '';
    child.stdout.on('data', (part: Buffer) => void (output += part.toString()));
    child.stderr.on('data', (part: Buffer) => void (errors += part.toString()));
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve(JSON.parse(output) as PacedResult);
      else reject(new Error(`the load at a fixed rate failed:\n${errors}`));
    });
  });
}
