import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startPortico, untilSays } from '../cli/run-portico.ts';
import { cleanUpAfterTest } from '../builders/clean-up.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { startFakeUpstream } from '../builders/fake-upstream.ts';
import { needsProgram } from '../builders/needs-program.ts';
import { startRedisServer } from '../builders/redis-server.ts';
import { tempFolder } from '../builders/temp-folder.ts';
import { until } from '../builders/until.ts';

/** The number of clients. Each has one connection at a time. */
const CLIENTS = 12;

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Sends requests over one connection at a time until it is stopped, and counts what happens to them. */
function startClient(port: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const counts = { responded: 0, failed: 0, lost: 0, refused: 0 };
  const stopped = new AbortController();
  const one = () =>
    new Promise<void>((resolve) => {
      const sent = request(
        {
          port,
          agent,
          path: '/services/v2/question.json',
          auth: 'alice:alice',
          headers: { accept: 'application/json' },
        },
        (response) => {
          response.resume().once('end', () => {
            counts[response.statusCode === 200 ? 'responded' : 'failed'] += 1;
            resolve();
          });
        },
      );
      sent.once('error', () => {
        // The kernel resets a connection that is in the accept queue of a socket when the socket is closed.
        counts[sent.reusedSocket ? 'lost' : 'refused'] += 1;
        resolve();
      });
      sent.end();
    });
  const done = (async () => {
    while (!stopped.signal.aborted) await one();
    agent.destroy();
  })();
  return {
    counts,
    stop: () => {
      stopped.abort();
      return done;
    },
  };
}

needsProgram('redis', 'two processes on one port', (path) => {
  it('lose no request on an open connection while one of them is restarted under load', async () => {
    const upstream = await startFakeUpstream(exampleResponse);
    const { url } = await startRedisServer(path);
    const port = await freePort();
    const config = join(tempFolder(), 'portico.yaml');
    const listen = `listen: { host: 127.0.0.1, port: ${port}, adminPort: 0, reusePort: true, lameDuckSeconds: 0.5 }`;
    const checks = 'checks: { authentication: report, permissions: report }';
    writeFileSync(config, `mode: staging\n${listen}\n${checks}\nupstream: { url: ${upstream.url} }\n`);
    const start = async (instance: string) => {
      const child = startPortico(['serve', '--config', config], {
        PORTICO_INSTANCE: instance,
        REDIS_URL: url,
        PORTICO_ROLES: join(import.meta.dirname, '..', '..', 'config', 'roles.yaml'),
      });
      child.stdout.resume();
      cleanUpAfterTest(() => child.kill('SIGKILL'));
      const banner = await untilSays(child, /Admin.*http:\S+/i);
      return { child, banner };
    };
    const [first] = await Promise.all([start('one'), start('two')]);
    const clients = Array.from({ length: CLIENTS }, () => startClient(port));
    const total = (key: keyof ReturnType<typeof startClient>['counts']) =>
      clients.reduce((sum, { counts }) => sum + counts[key], 0);
    const moreResponses = async (count: number) => {
      const from = total('responded');
      await until(() => total('responded') >= from + count);
    };
    await moreResponses(500);
    first.child.kill('SIGTERM');
    const [code] = (await once(first.child, 'close')) as [number];
    await moreResponses(200);
    await start('one');
    await moreResponses(500);
    await Promise.all(clients.map((one) => one.stop()));
    expect({ code, lost: total('lost'), failed: total('failed') }).toEqual({ code: 0, lost: 0, failed: 0 });
    // Without net.ipv4.tcp_migrate_req, the kernel may reset the few connections that it establishes in the moment
    // before the socket is closed.
    expect(total('refused')).toBeLessThanOrEqual(CLIENTS);
  });
});
