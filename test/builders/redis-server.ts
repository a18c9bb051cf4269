import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '../../bench/free-port.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { connectRedis, type Redis } from '../../src/engine/sharing/redis/connect-redis.ts';
import { REDIS_DEFAULTS, type RedisOptions } from '../../src/engine/sharing/redis/redis-options.ts';
import { cleanUpAfterFile } from './clean-up.ts';
import { tempFolder } from './temp-folder.ts';
import { until } from './until.ts';

/** A real Redis server on a free port. It is stopped after the last test in the file. */
export interface RedisServer {
  readonly url: string;
  readonly port: number;
  /** Shuts down the server. Without persistence, its data is lost. */
  stop(): Promise<void>;
  /** Restarts the server on the same port with the most recently saved data, and waits for a line in its output. */
  start(readyLine?: RegExp): Promise<void>;
  /** Suspends the process without closing its connections, so that it behaves like a hung server. */
  freeze(): void;
  thaw(): void;
}

/** Starts the Redis server at `path`. `args` are added to its command line. They can depend on the port. */
export async function startRedisServer(
  path: string,
  args: readonly string[] | ((port: number) => readonly string[]) = [],
): Promise<RedisServer> {
  const port = await freePort();
  const folder = tempFolder();
  let child: ChildProcess | undefined;
  const server: RedisServer = {
    url: `redis://127.0.0.1:${port}`,
    port,
    async stop() {
      if (child === undefined || child.exitCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
      child = undefined;
    },
    async start(readyLine) {
      const fixed = ['--port', port, '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no'];
      const given = typeof args === 'function' ? args(port) : args;
      child = spawn(path, [...fixed.map(String), ...given], { stdio: ['ignore', 'pipe', 'inherit'] });
      await ready(child, readyLine);
    },
    freeze() {
      child?.kill('SIGSTOP');
      frozen.add(server.url);
    },
    thaw() {
      frozen.delete(server.url);
      child?.kill('SIGCONT');
    },
  };
  cleanUpAfterFile(() => server.stop());
  await server.start();
  return server;
}

/** These limits are long enough that a server is not considered hung when other tests keep the machine busy. */
export const PATIENT = { connectTimeoutMs: 10_000, commandTimeoutMs: 10_000, maxUnsyncedSeconds: 600 };

/** The time limit for a command to a frozen server, which never replies. */
const FROZEN_MS = 50;
/** The URLs of the frozen servers. */
const frozen = new Set<string>();

/** A clock so fast that a connection retries a failing server after 0.1 seconds instead of a second. */
const fastClock = () => 10 * systemClock();

/**
 * Connects to a server. Commands wait a long time for a reply, except while the server is frozen. The caller must
 * close the connection.
 */
export function connectTo(url: string, more: Partial<RedisOptions> = {}): Redis {
  const options: RedisOptions = {
    ...REDIS_DEFAULTS,
    ...PATIENT,
    url,
    ...more,
    get commandTimeoutMs() {
      return frozen.has(url) ? FROZEN_MS : PATIENT.commandTimeoutMs;
    },
  };
  const redis = connectRedis(options, { url, password: undefined }, fastClock);
  // The `waitMs` of a command is left out, because it would only extend the wait for a frozen server.
  return {
    ...redis,
    command: (key, args, { bytes = false } = {}) => redis.command(key, args, { bytes }),
    run: (script, keys, args, { bytes = false } = {}) => redis.run(script, keys, args, { bytes }),
    duplicate: () => connectTo(url, more),
  };
}

/** Starts a sentinel that watches the primary at `port` under the name `main`. Returns the sentinel's port. */
export async function startSentinel(path: string, primaryPort: number): Promise<number> {
  const port = await freePort();
  const file = join(tempFolder(), 'sentinel.conf');
  const lines = [
    `port ${port}`,
    'bind 127.0.0.1',
    `sentinel monitor main 127.0.0.1 ${primaryPort} 1`,
    'sentinel down-after-milliseconds main 500',
    'sentinel failover-timeout main 2000',
  ];
  writeFileSync(file, `${lines.join('\n')}\n`);
  const child = spawn(path, [file, '--sentinel'], { stdio: ['ignore', 'pipe', 'inherit'] });
  cleanUpAfterFile(async () => {
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  });
  await ready(child);
  const sentinel = connectTo(`redis://127.0.0.1:${port}`);
  await until(() => sentinel.isAvailable());
  // By default, a sentinel asks the servers for their replicas and states only every ten seconds. Redis versions before
  // 7 do not support the command that shortens this interval.
  const often = ['SENTINEL', 'DEBUG', 'INFO-PERIOD', '100', 'PING-PERIOD', '100'];
  await sentinel.command('', often).catch(() => undefined);
  sentinel.close();
  return port;
}

const READY = /Ready to accept connections|\+monitor master/i;

async function ready(child: ChildProcess, readyLine = READY): Promise<void> {
  if (child.stdout === null) throw new Error('the output of redis-server cannot be read');
  const lines: string[] = [];
  for await (const line of createInterface(child.stdout)) {
    if (readyLine.test(line)) {
      child.stdout.resume();
      return;
    }
    lines.push(line);
  }
  throw new Error(`redis-server did not start: ${lines.join('\n')}`);
}
