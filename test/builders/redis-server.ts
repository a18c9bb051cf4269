import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { systemClock } from '../../src/lib/clock.ts';
import { connectRedis, type Redis } from '../../src/redis/connect-redis.ts';
import { REDIS_DEFAULTS, type RedisOptions } from '../../src/redis/redis-options.ts';
import { cleanUpAfterFile } from './clean-up.ts';
import { tempFolder } from './temp-folder.ts';

/** A real Redis server on a free port, which is stopped after the file's tests. */
export interface RedisServer {
  readonly url: string;
  readonly port: number;
  /** Ends the server. Without persistence, its data is lost. */
  stop(): Promise<void>;
  /**
   * Starts the server again on the same port, with the most recently saved data, and waits for a line of its output.
   */
  start(readyLine?: RegExp): Promise<void>;
  /** Stops the process without closing its connections, like a server that hangs. */
  freeze(): void;
  thaw(): void;
}

/** Starts the Redis server at `path`. `args` are added to its command line, or the arguments for a port. */
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
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
  };
  cleanUpAfterFile(() => server.stop());
  await server.start();
  return server;
}

/**
 * Connects to a server. The default limits tolerate a busy machine, but a command to a server that hangs fails after a
 * second. The caller closes the connection.
 */
export function connectTo(url: string, options: Partial<RedisOptions> = {}): Redis {
  const patient = { ...REDIS_DEFAULTS, url, connectTimeoutMs: 5_000, commandTimeoutMs: 1_000, ...options };
  return connectRedis(patient, { url, password: undefined }, systemClock);
}

/** Starts a sentinel that watches the primary at `port` under the name `main`, and returns the sentinel's port. */
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

/** Returns a port that no program listens on at the moment. */
async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}
