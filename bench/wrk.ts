import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { LOAD_CORE } from './cores.ts';

/** As many requests as possible, each of which is sent as soon as a connection is free. */
export interface Load {
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly connections: number;
  readonly seconds: number;
  /** The first of the seven-digit keys that are appended to the path, each of which is requested once. */
  readonly firstKey?: number | undefined;
}

/** Called each time that many more requests have been sent. The load ends early if it returns false. */
export interface Observer {
  readonly every: number;
  readonly sent: (requests: number) => boolean;
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

/** The time that wrk gets to open its connections. */
const OPENING_MS = 100;

/** Runs wrk on the load core. */
export function runWrk(load: Load, observer?: Observer): Promise<LoadResult> {
  const { port, path, headers, connections, seconds, firstKey } = load;
  const url = `http://127.0.0.1:${port}${path}`;
  const args = ['-c', String(LOAD_CORE), 'wrk', '-t1', `-c${connections}`, '--timeout', '10s'];
  // wrk accepts only whole seconds. An interrupt ends a load early, and wrk then reports its duration.
  args.push(`-d${Math.ceil(seconds) + 1}s`, '-s', join(import.meta.dirname, 'wrk.lua'));
  args.push(...Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]));
  args.push(url, '--', String(firstKey ?? 'none'), String(observer?.every ?? 0));
  return new Promise((resolve, reject) => {
    const child = spawn('taskset', args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let timer: NodeJS.Timeout | undefined;
    let output = '';
    const interrupt = () => void child.kill('SIGINT');
    child.stderr.on('data', (part: Buffer) => void (output += part.toString()));
    createInterface(child.stdout).on('line', (line) => {
      const [word, count] = line.split(' ');
      if (word === 'BEGIN') timer = setTimeout(interrupt, seconds * 1000 + OPENING_MS);
      else if (word !== 'SENT') output += `${line}\n`;
      else if (observer?.sent(Number(count)) === false) interrupt();
    });
    child.once('error', reject);
    child.once('close', () => {
      clearTimeout(timer);
      const counted = readCounts(output);
      if (counted === undefined) reject(new Error(`the output of wrk cannot be parsed:\n${output}`));
      else resolve(counted);
    });
  });
}

/** Parses the line that the Lua script prints. Returns undefined if there is no such line. */
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
