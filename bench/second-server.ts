/*
 * Measures what clients notice of a mirror whose second server misbehaves, and what features that watch requests cost.
 * Both gateways run at the same time, and blocks of requests alternate between them, so that changes in the machine's
 * speed affect both. Run on a quiet machine; it takes less than three minutes.
 *
 *   node bench/second-server.ts [--quick]
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LOAD_CORE, SERVER_CORE } from './cores.ts';
import { freePort } from './free-port.ts';
import { HOSTILE_MODES, type HostileMode } from './hostile-server.ts';
import type { PacedLoad } from './paced-load.ts';
import { createCpuTime, rssBytes, treeOf } from './process-usage.ts';
import { spreadOf } from './spread.ts';
import { startUpstream } from './start-upstream.ts';
import { untilReady } from './until-ready.ts';
import { runWrk } from './wrk.ts';

const isQuick = process.argv.includes('--quick');
const print = (line: string) => void process.stdout.write(`${line}\n`);
/** The rate and the length of a block in which latencies are measured. */
const PACE = { perSecond: 600, seconds: isQuick ? 1 : 3 };
/** The pairs of blocks for each kind of misbehavior. */
const PAIRS = 2;
const CPU_PAIRS = isQuick ? 4 : 10;
const CPU_SECONDS = 0.8;
/** Until the compiler has seen everything often enough. */
const WARM_ROUNDS = isQuick ? 3 : 10;
const HEADERS = { Accept: 'application/json', Authorization: `Basic ${Buffer.from('ada:pw').toString('base64')}` };
const PATH = '/services/v2/question.json?pageSize=15&page=';

interface Started {
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
}

const folder = mkdtempSync(join(tmpdir(), 'portico-second-'));
const children = new Set<ChildProcess>();

function start(core: number, args: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcess {
  const child = spawn('taskset', ['-c', String(core), process.execPath, ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
    cwd: folder,
    env: { ...process.env, MALLOC_ARENA_MAX: '1', ...env },
  });
  children.add(child);
  child.once('exit', () => children.delete(child));
  return child;
}

const stopped = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null) return resolve();
    child.once('exit', () => resolve());
    child.kill('SIGKILL');
  });

async function startGateway(name: string, upstream: number, config: object): Promise<Started> {
  const [port, adminPort] = [await freePort(), await freePort()];
  const file = join(folder, `${name}.json`);
  const settings = {
    upstream: { url: `http://127.0.0.1:${upstream}`, startupProbe: false },
    listen: { port, adminPort },
    ledger: { file: ':memory:' },
    levels: { file: ':memory:' },
    learn: { file: ':memory:' },
    roles: { file: join(import.meta.dirname, '..', 'config', 'roles.yaml') },
    ...config,
  };
  writeFileSync(file, JSON.stringify(settings), { mode: 0o600 });
  const child = start(SERVER_CORE, [join(import.meta.dirname, '..', 'bin', 'portico.mjs'), 'serve', '--config', file], {
    PORTICO_LOG_LEVEL: 'fatal',
  });
  await untilReady(adminPort);
  return { port, pid: child.pid ?? 0, stop: () => stopped(child) };
}

const rssMib = ({ pid }: Started) => rssBytes(treeOf(pid)) / 1024 ** 2;
const descriptors = ({ pid }: Started) =>
  treeOf(pid).reduce((sum, one) => {
    try {
      return sum + readdirSync(`/proc/${one}/fd`).length;
    } catch {
      return sum;
    }
  }, 0);

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Runs a block of requests at a fixed rate, on the load core. Returns the 99th percentile in milliseconds. */
function paced(port: number): Promise<number> {
  const load: PacedLoad = { port, path: `${PATH}1`, headers: HEADERS, connections: 32, ...PACE };
  const args = ['-c', String(LOAD_CORE), process.execPath, join(import.meta.dirname, 'paced-load.ts')];
  return new Promise((resolve, reject) => {
    const child = spawn('taskset', [...args, JSON.stringify(load)], { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    child.stdout.on('data', (part: Buffer) => void (text += part.toString()));
    child.once('close', (code) => (code === 0 ? resolve(Number(text)) : reject(new Error('the load failed'))));
  });
}

/** Returns the ratio of two medians, and the range in which it lies with 95% (bootstrap over the pairs). */
function ratioOf(pairs: readonly (readonly [a: number, b: number])[]): string {
  const ratio = (list: readonly (readonly [number, number])[]) =>
    spreadOf(list.map(([, b]) => b)).median / spreadOf(list.map(([a]) => a)).median;
  const drawn = Array.from({ length: 2_000 }, () =>
    ratio(pairs.map(() => pairs[Math.floor(Math.random() * pairs.length)] ?? [1, 1])),
  ).toSorted((a, b) => a - b);
  const words = (value: number) => `${value >= 1 ? '+' : ''}${((value - 1) * 100).toFixed(1)}%`;
  return `${words(ratio(pairs))} (95%: ${words(drawn[50] ?? 1)} to ${words(drawn[1_949] ?? 1)})`;
}

/** Alternates blocks: a b b a. */
async function alternate(pairs: number, a: () => Promise<number>, b: () => Promise<number>) {
  const found: (readonly [number, number])[] = [];
  for (let pair = 0; pair < pairs; pair += 1)
    if (pair % 2 === 0) found.push([await a(), await b()]);
    else {
      const second = await b();
      found.push([await a(), second]);
    }
  return found;
}

/** Compares the CPU time of a request. */
async function compareCpu(name: string, plain: Started, other: Started): Promise<void> {
  let firstKey = 0;
  const block = async (gateway: Started) => {
    const cpuNs = createCpuTime();
    const before = cpuNs(treeOf(gateway.pid));
    const load = { port: gateway.port, path: `${PATH}1&q=key`, headers: HEADERS, connections: 8, seconds: CPU_SECONDS };
    const { requests, errorStatuses } = await runWrk({ ...load, firstKey });
    if (errorStatuses > 0) throw new Error(`${errorStatuses} responses were errors`);
    firstKey += requests;
    return (cpuNs(treeOf(gateway.pid)) - before) / 1000 / requests;
  };
  for (let round = 0; round < WARM_ROUNDS; round += 1) for (const one of [plain, other]) await block(one);
  const pairs = await alternate(
    CPU_PAIRS,
    () => block(plain),
    () => block(other),
  );
  const [without, withIt] = [0, 1].map((side) => spreadOf(pairs.map((pair) => pair[side as 0 | 1])).median);
  print(
    `${name.padEnd(34)} ${(without ?? 0).toFixed(1)} → ${(withIt ?? 0).toFixed(1)} µs of a miss, ${ratioOf(pairs)}`,
  );
}

async function measureHostile(mode: HostileMode, plain: Started, mirrored: Started, port: number) {
  const server = start(LOAD_CORE, [join(import.meta.dirname, 'hostile-server.ts'), String(port), mode]);
  await sleep(300);
  const before = { rss: rssMib(mirrored), descriptors: descriptors(mirrored) };
  let most = before.rss;
  const timer = setInterval(() => void (most = Math.max(most, rssMib(mirrored))), 100);
  const pairs = await alternate(
    PAIRS,
    () => paced(plain.port),
    () => paced(mirrored.port),
  );
  clearInterval(timer);
  await stopped(server);
  // Its own connections end with their timeouts, at the latest.
  let left = Number.POSITIVE_INFINITY;
  for (const giveUpAt = performance.now() + 8_000; left > 0 && performance.now() < giveUpAt; await sleep(100))
    left = descriptors(mirrored) - before.descriptors;
  print(
    `${mode.padEnd(10)} p99 ${ratioOf(pairs)}, memory +${(most - before.rss).toFixed(0)} MiB, descriptors left: ${Math.max(0, left)}`,
  );
  return pairs;
}

try {
  const pages = await startUpstream(folder);
  process.once('exit', () => void pages.stop());
  const upstream = pages.portOf({ size: '2k', undocumented: false });
  const second = await freePort();
  const url = `http://127.0.0.1:${second}`;
  const mirror = { url, file: ':memory:', credentials: 'forward', forwardTo: new URL(url).host };
  print(`${execFileSync(process.execPath, ['--version'], { encoding: 'utf8' }).trim()}, ${new Date().toISOString()}\n`);
  for (const [name, config] of [
    ['mirror, nobody chosen', { mirror: { ...mirror, share: 1e-9 } }],
    ['deprecation, counting only', { deprecation: { file: ':memory:' } }],
    [
      'deprecation with an entry',
      {
        deprecation: {
          file: ':memory:',
          entries: [{ operations: ['listQuestions'], since: '2026-01-01', sunset: '2999-01-01' }],
        },
      },
    ],
  ] as const) {
    // Both are new, so that neither is warmer than the other.
    const plain = await startGateway('plain', upstream, {});
    const other = await startGateway('other', upstream, config);
    await compareCpu(name, plain, other);
    await Promise.all([plain.stop(), other.stop()]);
  }
  print('');
  const plain = await startGateway('plain', upstream, {});
  const mirrored = await startGateway('mirrored', upstream, {
    mirror: { ...mirror, share: 1, timeouts: { headersMs: 1_000, totalMs: 2_000 }, circuit: { failures: 1_000 } },
  });
  for (const one of [plain, mirrored]) await paced(one.port);
  const all: (readonly [number, number])[] = [];
  for (const mode of HOSTILE_MODES) all.push(...(await measureHostile(mode, plain, mirrored, second)));
  print(`\nall        p99 ${ratioOf(all)}`);
} finally {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}
