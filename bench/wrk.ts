import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { LOAD_CORE } from './cores.ts';

/** The options for a round that sends as many requests as possible. */
export interface Load {
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly connections: number;
  readonly seconds: number;
  /**
   * The number of distinct keys to request in turn, or `fresh` to request every key once. A key consists of the last
   * seven digits of the path. If undefined, the path has no key.
   */
  readonly keys?: number | 'fresh';
  /** The first key to request if every key is requested only once. */
  readonly firstKey?: number;
}

/** The counts that wrk reports. */
export interface LoadResult {
  readonly requests: number;
  readonly bytes: number;
  readonly seconds: number;
  /** Responses with a status above 399. */
  readonly errorStatuses: number;
  readonly socketErrors: number;
}

/** The time limit for wrk to open its connections. */
const SETTLING_MS = 100;

/** Runs wrk on the load core. Rejects on any socket error, so that a failed round does not look like a slow one. */
export async function runWrk(load: Load): Promise<LoadResult> {
  const script = join(import.meta.dirname, load.keys === undefined ? 'wrk-summary.lua' : 'wrk-keys.lua');
  const headers = Object.entries(load.headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const limit = Math.ceil(load.seconds) + 1;
  const wrk = ['wrk', '-t1', `-c${load.connections}`, `-d${limit}s`, '--timeout', '10s', ...headers, '-s', script];
  const words = load.keys === undefined ? [] : ['--', String(load.keys), String(load.firstKey ?? 0)];
  const url = `http://127.0.0.1:${load.port}${load.path}`;
  // wrk accepts only whole seconds. An interrupt ends a round early, and wrk then reports the actual duration.
  const output = await collect(['-c', String(LOAD_CORE), ...wrk, url, ...words], load.seconds * 1000 + SETTLING_MS);
  const result = readCounts(output);
  if (result === undefined) throw new Error(`the output of wrk cannot be parsed:\n${output}`);
  if (result.socketErrors > 0) throw new Error(`${result.socketErrors} socket errors at ${url}:\n${output}`);
  return result;
}

/** Parses the line that the Lua scripts print. Returns undefined if there is no such line. */
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
