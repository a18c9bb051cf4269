import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from '../../bench/free-port.ts';
import { packageRoot } from '../../src/lib/package-root.ts';
import { readCommandLine } from '../command-line.ts';

const HELP = `Counts the new connections that are lost while one of two processes on one port is restarted.

Usage: node tools/restarts/main.ts [options]

  --restarts <n>   Restarts of a process (default: 10).
  --clients <n>    Clients that open one new connection after another (default: 24).
  --first new      Start the new process before the old one stops; by default, it starts afterwards.
  --help           Show this help.`;

const { values } = readCommandLine(HELP, {
  restarts: { type: 'string' },
  clients: { type: 'string' },
  first: { type: 'string' },
});
const restarts = Number(values.restarts ?? 10);
const folder = mkdtempSync(join(tmpdir(), 'portico-restarts-'));
const port = await freePort();
const launcher = join(packageRoot, 'bin', 'portico.mjs');

/** Starts a process on the port, with the reference server as its upstream. Resolves when it accepts connections. */
async function start() {
  const cwd = mkdtempSync(join(folder, 'process-'));
  const config = join(cwd, 'portico.yaml');
  const listen = `listen: { host: 127.0.0.1, port: ${port}, adminPort: 0, reusePort: true }`;
  writeFileSync(config, `${listen}\nroles: { file: ${join(packageRoot, 'config', 'roles.yaml')} }\n`);
  const child = spawn(process.execPath, [launcher, 'serve', '--config', config], {
    cwd,
    env: { PATH: process.env['PATH'] },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await new Promise<void>((resolve, reject) => {
    let banner = '';
    child.stderr.on('data', (part) => {
      banner += String(part);
      if (/Admin.*http:\S+/i.test(banner)) resolve();
    });
    child.once('exit', () => reject(new Error(banner)));
  });
  return child;
}

const counts = new Map<string, number>();
const count = (outcome: string) => counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
const stopped = new AbortController();

/** Opens one connection after another, each for one request. */
async function client() {
  while (!stopped.signal.aborted)
    await new Promise<void>((resolve) => {
      const sent = request(
        { host: '127.0.0.1', port, path: '/services/v2/question.json', agent: false },
        (response) => {
          response.resume();
          response.once('end', () => {
            count('responded');
            resolve();
          });
        },
      );
      sent.once('error', (error: NodeJS.ErrnoException) => {
        count(error.code ?? error.message);
        resolve();
      });
      sent.end();
    });
}

async function stop(child: Awaited<ReturnType<typeof start>>) {
  child.kill('SIGTERM');
  if (child.exitCode === null) await once(child, 'exit');
}

const running = [await start(), await start()];
const clients = Array.from({ length: Number(values.clients ?? 24) }, client);
for (let done = 0; done < restarts; done += 1) {
  const [old] = running.splice(0, 1);
  if (values.first === 'new') running.push(await start());
  if (old !== undefined) await stop(old);
  if (values.first !== 'new') running.push(await start());
  await wait(200);
}
stopped.abort();
await Promise.all(clients);
await Promise.all(running.map(stop));
rmSync(folder, { recursive: true, force: true });
const setting = readFileSync('/proc/sys/net/ipv4/tcp_migrate_req', 'utf8').trim();
console.log(`net.ipv4.tcp_migrate_req=${setting}, ${restarts} restarts: ${JSON.stringify(Object.fromEntries(counts))}`);
