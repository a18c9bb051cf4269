import { rawRequest } from '../../../bench/raw-request.ts';
import { grouped, pause, type ProofResult } from '../proof.ts';
import { CALLERS, pageAsk } from './callers.ts';
import { type LoadCounts, runLoad, startLoad } from './load-client.ts';
import { type GatewayProcess, withScene } from './processes.ts';
import { faultsOf, statusText } from './soak.ts';
import { percentileOf } from './statistics.ts';

const TIMES_PEAK = 3;
/** The number of clients that overload the process. */
const CLIENTS = 256;
const LEAST_GOODPUT = 0.8;
const MAX_ADMIN_MS = 1000;
/** The minimum duration, in seconds, of a load whose goodput and response times are checked against their limits. */
const LEAST_SECONDS = 5;

/** The options for the scenarios. */
export interface OverloadOptions {
  readonly seconds: number;
  /**
   * How long the upstream takes to respond, in milliseconds. The delay must be so long that the upstream's capacity, not
   * the machine's speed, is the bottleneck.
   */
  readonly delayMs?: number;
  tick(text: string): void;
}

/**
 * Sends three times as many requests as the upstream can handle, each for a different page. Portico must use the
 * upstream's whole capacity and refuse all other requests immediately.
 */
export function overloadUpstream(
  { seconds, delayMs = 100, tick }: OverloadOptions,
  inScene = withScene,
): Promise<ProofResult> {
  return inScene(async ({ upstream, startGateway }) => {
    const gateway = await startGateway({ upstream: { concurrency: 16, queue: 16, queueTimeoutMs: 250 } });
    await upstream.set({ delayMs });
    let key = 0;
    const next = (client: number) => pageAsk(CALLERS[client % CALLERS.length] ?? '', `new${(key += 1)}`);
    const load = { port: () => gateway.port, next };
    await runLoad({ ...load, connections: 16 }, Math.min(1, seconds / 4));
    tick('measuring the peak');
    const admin = adminSide(gateway);
    const alone = await measure({ ...load, connections: 16 }, seconds / 2, admin);
    const overloaded = { ...load, connections: 256 };
    // If the machine was busy with other work, the measured peak is too low.
    const options = { seconds, tick, capacity: (16 * 1000) / delayMs, until: isRefusing };
    const result = await overload(admin, overloaded, alone, 16, options);
    const shed = result.counts.latencies.get(503)?.toSorted((a, b) => a - b) ?? [];
    const shedP99 = percentileOf(shed, 0.99);
    // Requests wait in the queue for at most 250 ms, plus any delay on a busy machine.
    if (seconds >= LEAST_SECONDS && shedP99 > 1000)
      result.faults.push(`the p99 of the time to a 503 was ${shedP99.toFixed(0)} ms`);
    if (shed.length === 0) result.faults.push('no request was refused');
    return {
      cases: result.counts.sent + alone.sent,
      faults: result.faults,
      figures: `${result.figures}; 503 after ${percentileOf(shed, 0.5).toFixed(0)} ms (median), ${shedP99.toFixed(0)} ms (p99)`,
    };
  });
}

/**
 * Sends three times as many requests for stored pages as the process can handle, over many connections. Portico must
 * keep working at its peak, and the admin side must remain usable.
 */
export function overloadProcess({ seconds, tick }: OverloadOptions, inScene = withScene): Promise<ProofResult> {
  return inScene(async ({ startGateway }) => {
    const gateway = await startGateway({ cache: { freshSeconds: 3600 } });
    let key = 0;
    const next = (client: number) => pageAsk(CALLERS[client % CALLERS.length] ?? '', `stored${(key += 1) % 20}`);
    const load = { port: () => gateway.port, next };
    await runLoad({ ...load, connections: CLIENTS }, Math.min(3, seconds / 2));
    tick('measuring the peak');
    // The peak is measured with as many clients and as many requests to the admin side, because both cost time.
    const admin = adminSide(gateway);
    const alone = await measure({ ...load, connections: CLIENTS }, seconds / 2, admin);
    const result = await overload(admin, { ...load, connections: CLIENTS }, alone, CLIENTS, { seconds, tick });
    return { cases: result.counts.sent + alone.sent, faults: result.faults, figures: result.figures };
  });
}

interface Overload extends OverloadOptions {
  /** The maximum number of requests per second that can be handled, if known. */
  readonly capacity?: number;
  /** The overload continues until this function returns true, even if that takes longer than planned. */
  readonly until?: (counts: LoadCounts) => boolean;
}

const isRefusing = ({ statuses }: LoadCounts) => statuses.has(503);
/** The maximum time by which an overload may exceed its planned duration. */
const GIVE_UP_MS = 60_000;

interface AdminSide {
  /** How long each response took, in milliseconds. */
  readonly tookMs: number[];
  readonly faults: string[];
  /** Requests the admin side about ten times per second until the function returns false. */
  askWhile(isRunning: () => boolean): Promise<void>;
}

function adminSide({ adminPort }: GatewayProcess): AdminSide {
  const tookMs: number[] = [];
  const faults: string[] = [];
  const askWhile = async (isRunning: () => boolean) => {
    while (isRunning()) {
      for (const path of ['/livez', '/metrics']) {
        const askedAt = performance.now();
        const { status } = await rawRequest(adminPort, path);
        tookMs.push(performance.now() - askedAt);
        if (status !== 200) faults.push(`${path} returned ${status}`);
      }
      await pause(100);
    }
  };
  return { tookMs, faults, askWhile };
}

/** Runs the load for the given number of seconds, and requests the admin side meanwhile. */
async function measure(load: Parameters<typeof runLoad>[0], seconds: number, admin: AdminSide): Promise<LoadCounts> {
  let isRunning = true;
  const asking = admin.askWhile(() => isRunning);
  const counts = await runLoad(load, seconds);
  isRunning = false;
  await asking;
  return counts;
}

async function overload(
  admin: AdminSide,
  load: Parameters<typeof runLoad>[0],
  alone: LoadCounts,
  peakConnections: number,
  { seconds, tick, capacity = 0, until = () => true }: Overload,
): Promise<{ readonly counts: LoadCounts; readonly faults: string[]; readonly figures: string }> {
  const peak = goodOf(alone) / (seconds / 2);
  const perSecond = Math.max(peak, capacity) * TIMES_PEAK;
  tick(`sending ${grouped(perSecond)} requests per second; the peak is ${grouped(peak)}`);
  const startedAt = performance.now();
  const running = startLoad({ ...load, perSecond });
  const endsAt = startedAt + seconds * 1000;
  const giveUpAt = endsAt + GIVE_UP_MS;
  await admin.askWhile(() => performance.now() < endsAt || (!until(running.counts) && performance.now() < giveUpAt));
  const goodput = goodOf(running.counts) / ((performance.now() - startedAt) / 1000);
  const counts = await running.stop();
  const after = await measure({ ...load, connections: peakConnections }, seconds / 2, admin);
  const faults = [...admin.faults, ...faultsOf(alone), ...faultsOf(counts), ...faultsOf(after)];
  const unrecovered = [...after.statuses].filter(([status]) => status !== 200);
  if (unrecovered.length > 0) faults.push(`after the overload: ${statusText(after)}`);
  // The peak is measured before and after the overload, because other programs also use the machine.
  const share = goodput / ((peak + goodOf(after) / (seconds / 2)) / 2);
  const isLong = seconds >= LEAST_SECONDS;
  if (isLong && share < LEAST_GOODPUT) faults.push(`the goodput was ${(share * 100).toFixed(0)}% of the peak`);
  const slowest = Math.max(...admin.tookMs);
  if (isLong && slowest > MAX_ADMIN_MS) faults.push(`the admin side took ${slowest.toFixed(0)} ms`);
  return {
    counts,
    faults,
    figures: [
      `peak ${grouped(peak)}/s (${grouped(goodOf(after) / (seconds / 2))}/s afterwards), offered ${grouped(perSecond)}/s`,
      `goodput ${(share * 100).toFixed(0)}% of the peak`,
      statusText(counts),
      `admin side at most ${slowest.toFixed(0)} ms (${admin.tookMs.length} requests)`,
    ].join('; '),
  };
}

const goodOf = ({ statuses }: LoadCounts) => statuses.get(200) ?? 0;
