import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { LOAD_CORE } from './cores.ts';
import { freePort } from './free-port.ts';
import type { PacedLoad, PacedResult } from './paced-load.ts';
import { verifyResponse } from './verify-response.ts';
import type { RunContext } from './run-scenario.ts';
import type { Entry, Scenario } from './scenarios/scenario.ts';
import { runWrk } from './wrk.ts';

/** Latencies of one server at half of its peak rate, which was measured just before. */
export interface LatencyRow {
  readonly peer: string;
  readonly label: string;
  readonly peakPerSecond: number;
  readonly paced: PacedResult;
}

/** Connections of the runs at a fixed rate. */
const CONNECTIONS = 32;

/** Measures one server after the other, so that no server is running while another one is measured. */
export async function measureLatency(
  scenario: Scenario,
  seconds: number,
  context: RunContext,
): Promise<readonly LatencyRow[]> {
  const rows: LatencyRow[] = [];
  for (const entry of scenario.entries) {
    if (entry.peer.needs !== undefined && context.missing.has(entry.peer.needs)) continue;
    context.progress.say(`Latency at half the peak: ${entry.peer.label}`);
    rows.push(await measureEntry(scenario, entry, seconds, context));
  }
  return rows;
}

async function measureEntry(
  scenario: Scenario,
  entry: Entry,
  seconds: number,
  { upstream, folder, warmSeconds }: RunContext,
): Promise<LatencyRow> {
  const { peer, request } = entry;
  const upstreamPort = upstream.portOf(scenario.size, scenario.upstream);
  const { running, port } = await peer.start({ upstreamPort, port: await freePort(), folder });
  try {
    const proof = await verifyResponse(peer.label, port, scenario, request);
    const load = { port, path: request.path, headers: proof.sent, connections: CONNECTIONS };
    await runWrk({ ...load, seconds: warmSeconds });
    const peak = await runWrk({ ...load, seconds: Math.min(2, seconds) });
    running.emptyOutput();
    const peakPerSecond = peak.requests / peak.seconds;
    const paced = await runPaced({ ...load, perSecond: peakPerSecond / 2, warmSeconds: 0.5, seconds });
    return { peer: peer.id, label: peer.label, peakPerSecond, paced };
  } finally {
    await running.stop();
  }
}

/** Runs the load in a separate process, so that garbage collections of this one do not disturb it. */
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
