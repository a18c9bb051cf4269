/*
 * Measures what clients notice of a mirror whose second server misbehaves, and what features that watch requests cost.
 * The gateways that are compared run at the same time, and short blocks of requests alternate between them, so that
 * changes in the machine's speed affect all alike. Run on a quiet machine; it takes about twelve minutes.
 *
 *   node bench/second-server.ts [--quick] [hangs|drips|...]
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LOAD_CORE, SERVER_CORE } from './cores.ts';
import { accepts, freePort } from './free-port.ts';
import { HOSTILE_MODES, type HostileMode } from './hostile-server.ts';
import type { PacedLatencies, PacedLoad } from './paced-load.ts';
import { percentileOf } from '../tools/prove/load/statistics.ts';
import { createCpuTime, rssBytes, treeOf } from './process-usage.ts';
import { spreadOf } from './spread.ts';
import { startUpstream } from './start-upstream.ts';
import { untilReady } from './until-ready.ts';
import { runWrk } from './wrk.ts';

const isQuick = process.argv.includes('--quick');
const named = HOSTILE_MODES.filter((mode) => process.argv.includes(mode));
const modes = named.length > 0 ? named : HOSTILE_MODES;
const print = (line: string) => void process.stdout.write(`${line}\n`);
/**
 * How latencies are measured. The upstream is as slow as legacy servers are: with one that responds at once, the 99th
 * percentile is that of the machine's interruptions, and the same gateway started twice differs by several times.
 */
const PACE = {
  perSecond: 200,
  blocks: isQuick ? 4 : 40,
  blockSeconds: 0.5,
  connections: 64,
  delay: { medianMs: 30, sigma: 0.9, atMostMs: 500 },
};
const CPU_PAIRS = isQuick ? 4 : 60;
const CPU_SECONDS = 0.3;
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
    stdio: 'ignore',
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

async function untilAccepting(port: number): Promise<void> {
  for (const giveUpAt = performance.now() + 10_000; !(await accepts(port)); await sleep(10))
    if (performance.now() > giveUpAt) throw new Error(`port ${port} stayed closed`);
}

/** Sends blocks of requests to several gateways in turns, from the load core. */
function paced(gateways: readonly Started[]): Promise<PacedLatencies> {
  const load: PacedLoad = { ...PACE, ports: gateways.map(({ port }) => port), path: `${PATH}1&q=`, headers: HEADERS };
  const args = ['-c', String(LOAD_CORE), process.execPath, join(import.meta.dirname, 'paced-load.ts')];
  return new Promise((resolve, reject) => {
    const child = spawn('taskset', [...args, JSON.stringify(load)], { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    child.stdout.on('data', (part: Buffer) => void (text += part.toString()));
    child.once('close', (code) => {
      if (code === 0) resolve(JSON.parse(text) as PacedLatencies);
      else reject(new Error('the load failed'));
    });
  });
}

/** Returns a ratio over pairs of blocks, and the range in which it lies with 95% (bootstrap over the pairs). */
function ratioOf<Pair>(pairs: readonly Pair[], ratio: (pairs: readonly Pair[]) => number): string {
  const draw = () => pairs.map(() => pairs[Math.floor(Math.random() * pairs.length)] as Pair);
  const drawn = Array.from({ length: DRAWN }, () => ratio(draw())).toSorted((a, b) => a - b);
  const words = (value = Number.NaN) => `${value >= 1 ? '+' : ''}${((value - 1) * 100).toFixed(1)}%`;
  return `${words(ratio(pairs))} (95%: ${words(drawn[DRAWN * 0.025])} to ${words(drawn[DRAWN * 0.975 - 1])})`;
}
const DRAWN = 1_000;

/** Compares the 99th percentile of all blocks of one gateway with that of another one. */
function p99Ratio(plain: readonly (readonly number[])[], other: readonly (readonly number[])[]): string {
  const p99 = (blocks: readonly (readonly number[])[]) => percentileOf(Float64Array.from(blocks.flat()).sort(), 0.99);
  const pairs = plain.map((block, at) => [block, other[at] ?? []] as const);
  const ratio = (drawn: readonly (readonly [readonly number[], readonly number[]])[]) =>
    p99(drawn.map(([, b]) => b)) / p99(drawn.map(([a]) => a));
  return `${p99(plain).toFixed(0)} → ${p99(other).toFixed(0)} ms, ${ratioOf(pairs, ratio)}`;
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
  const ratio = ratioOf(pairs, (list) => spreadOf(list.map(([a, b]) => b / a)).median);
  print(`${name.padEnd(34)} ${(without ?? 0).toFixed(1)} → ${(withIt ?? 0).toFixed(1)} µs of a miss, ${ratio}`);
}

async function measureHostile(mode: HostileMode, plain: Started, mirrored: Started, port: number): Promise<void> {
  const server = start(LOAD_CORE, [join(import.meta.dirname, 'hostile-server.ts'), String(port), mode]);
  await untilAccepting(port);
  const before = { rss: rssMib(mirrored), descriptors: descriptors(mirrored) };
  let most = before.rss;
  const timer = setInterval(() => void (most = Math.max(most, rssMib(mirrored))), 100);
  const [without = [], withIt = []] = await paced([plain, mirrored]);
  clearInterval(timer);
  await stopped(server);
  // Its own connections end with their timeouts, at the latest.
  let left = Number.POSITIVE_INFINITY;
  for (const giveUpAt = performance.now() + 8_000; left > 0 && performance.now() < giveUpAt; await sleep(100))
    left = descriptors(mirrored) - before.descriptors;
  const memory = `memory +${(most - before.rss).toFixed(0)} MiB, descriptors left: ${Math.max(0, left)}`;
  print(`${mode.padEnd(10)} p99 ${p99Ratio(without, withIt)}, ${memory}`);
}

const pages = await startUpstream(folder);
try {
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
    // Somebody who names modes wants to know nothing else.
    if (named.length > 0) break;
    // Both are new, so that neither is warmer than the other.
    const plain = await startGateway('plain', upstream, {});
    const other = await startGateway('other', upstream, config);
    await compareCpu(name, plain, other);
    await Promise.all([plain.stop(), other.stop()]);
  }
  const slow = await freePort();
  start(LOAD_CORE, [join(import.meta.dirname, 'slow-upstream.ts'), String(slow)]);
  await untilAccepting(slow);
  const plain = await startGateway('plain', slow, {});
  const again = await startGateway('again', slow, {});
  const mirrored = await startGateway('mirrored', slow, {
    mirror: {
      ...mirror,
      share: 1,
      // Everything that clients send is mirrored, which is more than the default budget allows.
      budget: { requestsPerSecond: 1_000 },
      timeouts: { headersMs: 1_000, totalMs: 2_000 },
      circuit: { failures: 1_000 },
    },
  });
  // The mirrored gateway takes part, so that it is as warm as the others.
  const [first = [], other = []] = await paced([plain, again, mirrored]);
  print(`\nno mirror  p99 ${p99Ratio(first, other)}, the same gateway started twice`);
  await again.stop();
  for (const mode of modes) await measureHostile(mode, plain, mirrored, second);
} finally {
  for (const child of children) child.kill('SIGKILL');
  await pages.stop();
  rmSync(folder, { recursive: true, force: true });
}
