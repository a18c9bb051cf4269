// Runs each benchmark program once, with counts too small for a meaningful measurement. Leaves out the parts that need
// wrk or packages that are installed only for a benchmark run.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { requestEachKey } from '../closed-load.ts';
import { freePort } from '../free-port.ts';
import type { MicroLine, MicroTask } from '../micro/worker.ts';
import type { PacedLoad, PacedResult } from '../paced-load.ts';
import { questionPage } from '../pages.ts';
import { rawRequest } from '../raw-request.ts';
import { partNames } from '../scenarios/all.ts';
import { PAGE_PATH } from '../scenarios/requests.ts';
import type { UpstreamVariant } from '../upstream.ts';

const BENCH = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'portico-bench-test-'));
const started: ChildProcess[] = [];
let upstreamPort = 0;
let undocumentedPort = 0;

beforeAll(async () => {
  upstreamPort = await freePort();
  undocumentedPort = await freePort();
  const variants: UpstreamVariant[] = [
    { size: '29k', kind: 'undocumented', port: undocumentedPort },
    { size: '29k', kind: 'same', port: upstreamPort },
  ];
  start('upstream.ts', JSON.stringify(variants));
  await untilReady(upstreamPort);
});

afterAll(async () => {
  for (const child of started) {
    const ended = child.exitCode === null ? once(child, 'exit') : undefined;
    child.kill();
    await ended;
  }
  rmSync(folder, { recursive: true });
});

function start(program: string, ...args: readonly string[]): void {
  started.push(spawn(process.execPath, [join(BENCH, program), ...args], { stdio: ['ignore', 'ignore', 'inherit'] }));
}

/** Waits until a server returns the page. Retries while the server is not listening. */
const untilReady = (port: number) =>
  vi.waitFor(async () => expect((await rawRequest(port, PAGE_PATH)).status).toBe(200), { timeout: 120_000 });

/** Returns the output of a program that ends on its own. */
async function outputOf(program: string, ...args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [join(BENCH, program), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (part: Buffer) => void (output += part.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  expect(code).toBe(0);
  return output;
}

test('the benchmark lists its parts without installing anything', () => {
  const { status, stdout } = spawnSync(process.execPath, [join(BENCH, 'main.mjs'), '--help'], { encoding: 'utf8' });
  expect(status).toBe(0);
  for (const name of partNames()) expect(stdout).toContain(name);
});

test('the upstream returns the page', async () => {
  const { body } = await rawRequest(upstreamPort, PAGE_PATH);
  expect(body.equals(questionPage('29k'))).toBe(true);
});

test('the page with undocumented fields has one on the page and one on each item', async () => {
  const { body } = await rawRequest(undocumentedPort, PAGE_PATH);
  const page = JSON.parse(body.toString()) as { serverTime?: number; list: { reactionCount?: number }[] };
  expect(page.serverTime).toBeDefined();
  expect(page.list.every(({ reactionCount }) => reactionCount !== undefined)).toBe(true);
});

test.each([
  ['node-http', () => '29k'],
  ['http-proxy-middleware', () => String(upstreamPort)],
])('the peer %s returns the page', async (peer, lastArgument) => {
  const port = await freePort();
  start(join('peers', 'programs', `${peer}.ts`), String(port), lastArgument());
  await untilReady(port);
  expect((await rawRequest(port, PAGE_PATH)).body.equals(questionPage('29k'))).toBe(true);
});

test('every stage of a request is measured once', async () => {
  // Unlike a benchmark run, this test does not use --expose-gc, because it would then spend most of its time collecting
  // garbage.
  const effort = { warmMs: 1, batchMs: 0.01, batches: 1, allocationCalls: 10 };
  const task: MicroTask = { folder: join(folder, 'micro'), upstreamPort, effort };
  const lines = (await outputOf(join('micro', 'worker.ts'), JSON.stringify(task)))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as MicroLine);
  expect(lines.length).toBeGreaterThan(10);
  for (const { name, nsPerCall } of lines) expect(nsPerCall.median, name).toBeGreaterThan(0);
}, 300_000);

test('the paced load counts its requests, and the closed one requests each key', async () => {
  const common = { port: upstreamPort, headers: {}, connections: 2 };
  const load: PacedLoad = { ...common, path: PAGE_PATH, perSecond: 50, warmSeconds: 0.1, seconds: 0.1 };
  const result = JSON.parse(await outputOf('paced-load.ts', JSON.stringify(load))) as PacedResult;
  expect(result).toMatchObject({ requests: 5, perSecond: 50 });
  await requestEachKey({ ...common, path: '/services/v2/question.json?q=', from: 0, to: 5 });
});
