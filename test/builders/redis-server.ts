import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { cleanUpAfterFile } from './clean-up.ts';
import { tempFolder } from './temp-folder.ts';

/** A real Redis server on a free port, which is stopped after the file's tests. */
export interface RedisServer {
  readonly url: string;
  readonly port: number;
  /** Ends the server. Without persistence, its data is lost. */
  stop(): Promise<void>;
  /** Starts the server again on the same port, with the data that was saved last. */
  start(): Promise<void>;
  /** Stops the process without closing its connections, like a server that hangs. */
  freeze(): void;
  thaw(): void;
}

/** Starts the Redis server at `path`. `args` are added to its command line. */
export async function startRedisServer(path: string, args: readonly string[] = []): Promise<RedisServer> {
  const folder = tempFolder();
  const port = await freePort();
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
    async start() {
      const fixed = [
        '--port',
        String(port),
        '--bind',
        '127.0.0.1',
        '--dir',
        folder,
        '--save',
        '',
        '--appendonly',
        'no',
      ];
      child = spawn(path, [...fixed, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
      await ready(child);
    },
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
  };
  cleanUpAfterFile(() => server.stop());
  await server.start();
  return server;
}

async function ready(child: ChildProcess): Promise<void> {
  if (child.stdout === null) throw new Error('the output of redis-server cannot be read');
  const lines: string[] = [];
  for await (const line of createInterface(child.stdout)) {
    if (/Ready to accept connections/i.test(line)) {
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
