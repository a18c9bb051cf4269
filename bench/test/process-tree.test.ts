import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { totalOf } from '../cpu-time.ts';
import { freePort } from '../free-port.ts';
import { nodeHttp } from '../peers/node-http.ts';
import { rawRequest } from '../raw-request.ts';

const folder = mkdtempSync(join(tmpdir(), 'portico-bench-test-'));

afterAll(() => rmSync(folder, { recursive: true }));

const hasTaskset = spawnSync('taskset', ['-V']).error === undefined;

test.skipIf(!hasTaskset)('a server does not start while another one is alive', async () => {
  const startPeer = async () => nodeHttp('2k').start({ upstreamPort: 1, port: await freePort(), folder });
  const first = await startPeer();
  await expect(startPeer()).rejects.toThrow(/while another server is alive/);
  await first.running.stop();
  const second = await startPeer();
  // A peer can be measured only if it responds, its CPU time can be read, and V8 reports the functions that it
  // optimizes.
  expect((await rawRequest(second.port, '/')).status).toBe(200);
  expect(totalOf(second.running.cpuTimes())).toBeGreaterThan(0);
  expect(second.optimizations?.()).toBeGreaterThanOrEqual(0);
  await second.running.stop();
});
