import { requestEachKey } from './closed-load.ts';
import { countMetric } from './count-metric.ts';
import { formatNumber } from './format-number.ts';
import { freePort } from './free-port.ts';
import { portico } from './peers/portico.ts';
import type { StartedPeer } from './peers/peer.ts';
import { rawRequest } from './raw-request.ts';
import type { RunContext } from './run-scenario.ts';
import { PLAIN, keyed } from './scenarios/requests.ts';
import { slopeOf } from './slope.ts';

/** The cache budget of the run, in bytes. */
export const MEMORY_BUDGET = 64 * 1024 * 1024;

/** The number of warm-up requests. Their keys are higher than the keys in the run. */
const WARM_REQUESTS = 4000;

/** How long to wait after startup and after the warm-up before reading the idle memory. */
const REST_MS = 2000;

/** The minimum number of stored responses at the end of a run. With fewer responses, the run did not fill the cache. */
const LEAST_ENTRIES = 1000;

/** The resident memory during a run that requests many distinct keys, each once. */
export interface MemoryResult {
  readonly keys: number;
  readonly budgetBytes: number;
  /** The resident memory two seconds after `/readyz` returned 200, before any other request was sent. */
  readonly restBytes: number;
  /**
   * The resident memory two seconds after the warm-up, which consists of a few thousand misses whose responses are then
   * purged. By then, V8 has compiled the code that the run uses.
   */
  readonly warmRestBytes: number;
  readonly peakBytes: number;
  readonly endBytes: number;
  /** The growth in resident memory during the second half of the run, in bytes per million keys. */
  readonly lastHalfSlope: number;
  /** The number of stored responses at the end and their size in bytes, according to the metrics. */
  readonly entries: number;
  readonly cacheBytes: number;
  readonly samples: readonly { readonly keys: number; readonly rssBytes: number }[];
}

/**
 * Requests 2 kB pages with distinct keys and distinct bodies. Takes at least fifty samples, and at least one sample
 * for every 20,000 keys.
 */
export async function measureMemory(keys: number, context: RunContext): Promise<MemoryResult> {
  const { upstream, folder, progress } = context;
  const peer = portico({ label: 'memory', responses: 'enforce', cache: true, maxBytes: MEMORY_BUDGET });
  const started = await peer.start({ upstreamPort: upstream.portOf('2k', 'stamped'), port: await freePort(), folder });
  const { running, port } = started;
  const { path, headers } = keyed(PLAIN, keys);
  const ask = (from: number, to: number) => requestEachKey({ port, path, headers, connections: 32, from, to });
  progress.say(`Memory: ${formatNumber(keys, 0)} distinct keys`);
  try {
    const restBytes = await restOf(started);
    await ask(keys, keys + WARM_REQUESTS);
    await purgeAll(adminPortOf(started));
    const warmRestBytes = await restOf(started);

    const samples: { keys: number; rssBytes: number }[] = [];
    const step = Math.min(20_000, Math.ceil(keys / 50));
    for (let from = 0; from < keys; from += step) {
      const to = Math.min(keys, from + step);
      await ask(from, to);
      const rssBytes = running.rssBytes();
      samples.push({ keys: to, rssBytes });
      running.emptyOutput();
      progress.tick(`memory: ${formatNumber(to, 0)} keys, ${formatNumber(rssBytes / 1e6, 0)} MB`);
    }
    const kept = await verifyStored(started, keys);
    return {
      keys,
      budgetBytes: MEMORY_BUDGET,
      restBytes,
      warmRestBytes,
      peakBytes: Math.max(...samples.map((sample) => sample.rssBytes)),
      endBytes: samples.at(-1)?.rssBytes ?? 0,
      lastHalfSlope:
        slopeOf(samples.filter((sample) => sample.keys > keys / 2).map((one) => [one.keys, one.rssBytes])) * 1e6,
      ...kept,
      samples,
    };
  } finally {
    await running.stop();
  }
}

/** Verifies that responses were stored: the metrics must count them, and the last key must be a hit. */
async function verifyStored(started: StartedPeer, keys: number): Promise<Pick<MemoryResult, 'entries' | 'cacheBytes'>> {
  const adminPort = adminPortOf(started);
  const entries = await countMetric(adminPort, /^portico_cache_entries /);
  const cacheBytes = await countMetric(adminPort, /^portico_cache_bytes /);
  if (entries < LEAST_ENTRIES) throw new Error(`only ${entries} responses were stored`);
  if (cacheBytes > MEMORY_BUDGET) throw new Error(`the cache reports ${cacheBytes} bytes, which is over its budget`);
  const { path, headers } = keyed(PLAIN, keys);
  const last = `${path}${String(keys - 1).padStart(7, '0')}`;
  const response = await rawRequest(started.port, last, headers);
  const status = response.headers['cache-status'] ?? 'absent';
  if (response.status !== 200 || !/hit/.test(status))
    throw new Error(`the last key is not a hit: status ${response.status}, cache-status ${status}`);
  return { entries, cacheBytes };
}

async function restOf({ running }: StartedPeer): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, REST_MS));
  return running.rssBytes();
}

async function purgeAll(adminPort: number): Promise<void> {
  const { ok, status } = await fetch(`http://127.0.0.1:${adminPort}/cache/purge`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: '{"all":true}',
  });
  if (!ok) throw new Error(`purging failed: status ${status}`);
}

function adminPortOf({ adminPort }: StartedPeer): number {
  if (adminPort === undefined) throw new Error('this server has no admin side');
  return adminPort;
}
