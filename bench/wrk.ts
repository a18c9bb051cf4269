import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { LOAD_CORE } from './cores.ts';

/** A round of as many requests as can be had. */
export interface Load {
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly connections: number;
  readonly seconds: number;
  /** Where given, that many distinct keys are asked for in turn: seven digits after the path. */
  readonly keys?: number;
}

/** What wrk counted. */
export interface LoadResult {
  readonly requests: number;
  readonly bytes: number;
  readonly seconds: number;
  /** Answers with a status above 399. */
  readonly errorStatuses: number;
  readonly socketErrors: number;
}

/** What wrk may take to open its connections. */
const SETTLING_MS = 100;

/** Runs wrk on the load core; rejects on any socket error, so that no broken round is taken for a slow one. */
export async function runWrk(load: Load): Promise<LoadResult> {
  const script = join(import.meta.dirname, load.keys === undefined ? 'wrk-summary.lua' : 'wrk-keys.lua');
  const headers = Object.entries(load.headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const limit = Math.ceil(load.seconds) + 1;
  const wrk = ['wrk', '-t1', `-c${load.connections}`, `-d${limit}s`, '--timeout', '10s', ...headers, '-s', script];
  const words = load.keys === undefined ? [] : ['--', String(load.keys)];
  const url = `http://127.0.0.1:${load.port}${load.path}`;
  // wrk takes whole seconds only; an interrupt ends a round early and its own clock says how long it was.
  const output = await collect(['-c', String(LOAD_CORE), ...wrk, url, ...words], load.seconds * 1000 + SETTLING_MS);
  const result = readCounts(output);
  if (result === undefined) throw new Error(`wrk said nothing that can be read:\n${output}`);
  if (result.socketErrors > 0) throw new Error(`${result.socketErrors} socket errors at ${url}:\n${output}`);
  return result;
}

/** Reads the line that the scripts make wrk print; undefined where there is none. */
export function readCounts(output: string): LoadResult | undefined {
  const found = /^BENCH (\{.*\})$/m.exec(output)?.[1];
  if (found === undefined) return undefined;
  const counted = JSON.parse(found) as Record<string, number>;
  const count = (name: string) => counted[name] ?? 0;
  return {
    requests: count('requests'),
    bytes: count('bytes'),
    seconds: count('durationUs') / 1e6,
    errorStatuses: count('status'),
    socketErrors: count('connect') + count('read') + count('write') + count('timeout'),
  };
}

function collect(args: readonly string[], interruptMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('taskset', [...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    let timer: NodeJS.Timeout | undefined;
    let output = '';
    const keep = (part: Buffer) => {
      output += part.toString();
      if (output.startsWith('BEGIN')) timer ??= setTimeout(() => child.kill('SIGINT'), interruptMs);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(timer);
      if (code === 0) resolve(output);
      else reject(new Error(`wrk ended with ${code}:\n${output}`));
    });
  });
}
