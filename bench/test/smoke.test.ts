// Starts the programs of a run that need neither wrk nor packages that are installed only for a run.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { allCases, PAGE_PATH, PARTS } from '../cases.ts';
import { SERVER_CORE } from '../cores.ts';
import { freePort } from '../free-port.ts';
import type { MicroEffort } from '../micro/measure-stage.ts';
import { startProgram } from '../program.ts';
import { rawRequest } from '../raw-request.ts';
import { withServer } from '../server.ts';
import { startUpstream, type Upstream } from '../start-upstream.ts';
import { verifyResponse } from '../verify-response.ts';

const BENCH = join(import.meta.dirname, '..');
const PAGE = { size: '29k', undocumented: false } as const;

function caseOf(id: string) {
  const found = allCases().find((one) => one.id === id);
  if (found === undefined) throw new Error(`there is no case ${id}`);
  return found;
}

test('the benchmark lists its parts without installing anything', () => {
  const { status, stdout } = spawnSync(process.execPath, [join(BENCH, 'main.mjs'), '--help'], { encoding: 'utf8' });
  expect(status).toBe(0);
  for (const name of Object.keys(PARTS)) expect(stdout).toContain(name);
});

describe.skipIf(spawnSync('taskset', ['-V']).error !== undefined)('the programs', () => {
  const folder = mkdtempSync(join(tmpdir(), 'portico-bench-test-'));
  let upstream: Upstream;

  beforeAll(async () => {
    upstream = await startUpstream(folder);
  });

  afterAll(async () => {
    await upstream.stop();
    rmSync(folder, { recursive: true });
  });

  /** Starts a case's server and returns the names of its response's headers. */
  const headersOf = (id: string, also: (port: number) => Promise<unknown> = () => Promise.resolve()) =>
    withServer(caseOf(id), { folder, upstream }, async ({ running, port }) => {
      expect(running.cpuNs()).toBeGreaterThan(0);
      await also(port);
      return Object.keys((await verifyResponse(caseOf(id), port)).headers).toSorted();
    });

  test('every page of the upstream has its own number', async () => {
    const bodies = [1, 2].map(async () => (await rawRequest(upstream.portOf(PAGE), PAGE_PATH)).body.toString());
    expect(new Set(await Promise.all(bodies)).size).toBe(2);
  });

  test('the bare server sends the headers of a hit', async () => {
    const ofHit = await headersOf('hit', (port) => verifyResponse(caseOf('passthrough'), port));
    expect(await headersOf('bare')).toEqual(ofHit);
  });

  test('a page with undocumented fields is reported by Portico and passes through the proxy', async () => {
    expect(await headersOf('undocumented')).toContain('contract-status');
    expect(await headersOf('proxy-undocumented')).not.toContain('contract-status');
  });

  test('a server does not start while another one is alive', async () => {
    await withServer(caseOf('proxy'), { folder, upstream }, async () => {
      const port = await freePort();
      const program = { command: process.execPath, args: [], port, folder };
      await expect(startProgram(program, SERVER_CORE)).rejects.toThrow(/while another server is alive/);
    });
  });

  test('a response that is not the page is found', async () => {
    const wrong = { ...caseOf('bare'), page: { size: '2k', undocumented: false } as const };
    await expect(withServer(wrong, { folder, upstream }, () => Promise.resolve())).rejects.toThrow(/not the page/);
  });

  test('a response without the expected header is found', async () => {
    const wrong = { ...caseOf('bare'), proof: { 'cache-status': /stored/ } };
    await expect(withServer(wrong, { folder, upstream }, () => Promise.resolve())).rejects.toThrow(/cache-status/);
  });

  test('every stage of a request is measured once', () => {
    // Without --expose-gc, because the process would otherwise spend most of its time collecting garbage.
    const effort: MicroEffort = { warmMs: 1, batchMs: 0.01, batches: 1 };
    const worker = join(BENCH, 'micro', 'worker.ts');
    const task = [worker, join(folder, 'micro'), String(upstream.portOf(PAGE)), JSON.stringify(effort)];
    const { stdout } = spawnSync(process.execPath, task, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
    const lines = stdout.trim().split('\n');
    expect(lines.length).toBeGreaterThan(10);
    for (const line of lines) expect(line).toMatch(/^(?:hit|miss|first) +\d+ +\d+ to \d+ {2}\S/);
  });
});
