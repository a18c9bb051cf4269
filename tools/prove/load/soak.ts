import { join } from 'node:path';
import { openLedgerFile } from '../../../src/features/ledger/store/sqlite/open-ledger-file.ts';
import { describeCounts, grouped, pause, type ProofContext, type ProofResult } from '../proof.ts';
import { CALLERS, deniedAsk, LEAK, pageAsk, STRANGER, violatingAsk, writeAsk } from './callers.ts';
import { type Ask, type LoadCounts, runLoad, startLoad, totalOf } from './load-client.ts';
import { type GatewayProcess, RELOADS, withScene } from './processes.ts';
import { percentileOf, slopeOf } from './statistics.ts';

const CONNECTIONS = 32;
/** The share of the upstream's pages that are faulty. */
const FAULT_SHARE = 0.05;
const RELOAD_SECONDS = 10;
/** The maximum growth in memory during the second half of the soak, as a share of the memory at the end. */
const MAX_GROWTH = 0.1;
/**
 * The limits apply only to a soak of at least this duration. In a shorter one, memory and delays depend mostly on when
 * garbage was last collected.
 */
const LEAST_SECONDS_FOR_LIMITS = 120;
const MAX_LOOP_P99_MS = 100;

/** Creates the mix of requests and counts the violations that the ledger must contain at the end. */
function createMix(): { next(client: number): Ask; violations(): number } {
  let number = 0;
  let violations = 0;
  return {
    next: (client) => {
      number += 1;
      const name = CALLERS[client % CALLERS.length] ?? '';
      const key = `key${number % 61}`;
      const turn = number % 100;
      if (turn < 4) {
        violations += 1;
        return violatingAsk(name);
      }
      if (turn < 6) return deniedAsk(turn === 4 ? STRANGER : undefined, key);
      if (turn < 7) return writeAsk(name);
      if (turn < 11) return pageAsk(name, key, number % 7);
      return pageAsk(name, key);
    },
    violations: () => violations,
  };
}

/**
 * Runs a gateway at half its peak, with upstream failures, reloads, and clients that disconnect. Nothing may be lost,
 * nothing may leak, and no response may reach the wrong caller.
 */
export function soak({ soakSeconds, tick }: ProofContext, inScene = withScene): Promise<ProofResult> {
  return inScene(async ({ upstream, startGateway }) => {
    const gateway = await startGateway({ cache: { freshSeconds: 2 } });
    const socketsBefore = gateway.sockets();
    const before = {
      reloads: await gateway.metric(RELOADS.applied),
      refusedReloads: await gateway.metric(RELOADS.refused),
      stored: await countInLedger(gateway.folder),
    };
    const mix = createMix();
    const faults: string[] = [];
    const load = { connections: CONNECTIONS, port: () => gateway.port, next: mix.next, perConnection: 500 };
    await upstream.set({ faultShare: FAULT_SHARE });
    const peakSeconds = Math.min(5, soakSeconds / 4);
    // A process is slower immediately after it starts, so its peak is not measured until it has warmed up.
    const warmUp = await runLoad(load, peakSeconds);
    tick('measuring the peak');
    const peakCounts = await runLoad(load, peakSeconds);
    const peak = totalOf(peakCounts.statuses) / peakSeconds;
    const running = startLoad({ ...load, perSecond: peak / 2 });
    const rss: [number, number][] = [];
    const loopP99: number[] = [];
    const startedAt = performance.now();
    for (let second = 1; second <= soakSeconds; second += 1) {
      await pause(Math.max(0, startedAt + second * 1000 - performance.now()));
      if (second % RELOAD_SECONDS === 0) {
        // Every reload changes a value, so that the gateway has something to apply.
        gateway.configure({ cache: { freshSeconds: 2 + ((second / RELOAD_SECONDS) % 2) } });
        gateway.signal('SIGHUP');
      }
      rss.push([second, gateway.rssBytes()]);
      loopP99.push((await gateway.metric(/^nodejs_eventloop_lag_p99_seconds /)) * 1000);
      tick(
        `${second} of ${soakSeconds} s, ${grouped(running.counts.sent)} requests, RSS ${megabytes(rss.at(-1)?.[1])}`,
      );
    }
    const counts = await running.stop();
    await upstream.set({ faultShare: 0 });
    const { faults: upstreamFaults } = await upstream.set({});
    faults.push(...faultsOf(warmUp), ...faultsOf(peakCounts), ...faultsOf(counts));

    const sockets = await untilSockets(gateway, socketsBefore);
    if (sockets > socketsBefore)
      faults.push(`${sockets} sockets are open after the load; before, ${socketsBefore} were`);
    const grown = growthOf(rss);
    if (soakSeconds >= LEAST_SECONDS_FOR_LIMITS && grown > MAX_GROWTH)
      faults.push(`the memory grew by ${(grown * 100).toFixed(1)}% in the second half`);
    const p99 = percentileOf(
      loopP99.toSorted((a, b) => a - b),
      0.5,
    );
    if (soakSeconds >= LEAST_SECONDS_FOR_LIMITS && p99 > MAX_LOOP_P99_MS)
      faults.push(`the p99 of the event-loop delay was ${p99.toFixed(0)} ms`);
    const reloads = (await gateway.metric(RELOADS.applied)) - before.reloads;
    const refusedReloads = (await gateway.metric(RELOADS.refused)) - before.refusedReloads;
    if (refusedReloads > 0) faults.push(`${refusedReloads} reloads were refused`);
    const dropped = await gateway.metric(/^portico_ledger_dropped_total/);
    const code = await gateway.end('SIGTERM');
    if (code !== 0) faults.push(`the gateway ended with ${code}: ${gateway.errors().slice(-500)}`);
    const stored = (await countInLedger(gateway.folder)) - before.stored;
    if (stored !== mix.violations()) faults.push(`the ledger counts ${stored} of ${mix.violations()} violations`);
    if (dropped > 0) faults.push(`the ledger dropped ${dropped} records`);

    const leaks = [warmUp, peakCounts, counts].reduce((sum, { wrong }) => sum + (wrong.get(LEAK) ?? 0), 0);
    const received = totalOf(counts.statuses);
    return {
      cases: counts.sent + peakCounts.sent + warmUp.sent,
      faults,
      figures: [
        `${soakSeconds} s at ${grouped(peak / 2)}/s (peak ${grouped(peak)}/s)`,
        `${grouped(received)} responses: ${statusText(counts)}`,
        `${grouped(upstreamFaults)} upstream faults`,
        `${grouped(counts.aborted)} aborts`,
        `${reloads} reloads`,
        `${leaks} leaks`,
        `RSS ${megabytes(rss.at(-1)?.[1])}, ${(grown * 100).toFixed(1)}% growth in the second half`,
        `event-loop delay p99 ${p99.toFixed(1)} ms (median over seconds)`,
        `ledger ${grouped(stored)} of ${grouped(mix.violations())}`,
      ].join('; '),
    };
  });
}

/** Describes the wrong responses and lost requests in a load test. */
export function faultsOf({ wrong, lost }: LoadCounts): string[] {
  return [...describeCounts('wrong', wrong), ...describeCounts('lost', lost)];
}

/** Returns the counts by status as a phrase. */
export function statusText({ statuses }: LoadCounts): string {
  return [...statuses]
    .toSorted(([one], [other]) => one - other)
    .map(([status, count]) => `${status} × ${grouped(count)}`)
    .join(', ');
}

/** Formats a number of bytes as megabytes. */
export function megabytes(bytes = 0): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/** Returns how many requests for questions violated the contract, according to the ledger file. */
export async function countInLedger(folder: string, state = '.portico'): Promise<number> {
  const reader = openLedgerFile(join(folder, state, 'ledger.db'));
  try {
    const { entries } = await reader.snapshot();
    return entries
      .filter(({ operation, check }) => operation === 'listQuestions' && check === 'requests')
      .reduce((sum, { count }) => sum + count, 0);
  } finally {
    reader.close();
  }
}

/** Waits for connections to close until at most `wanted` sockets are open. Returns the number of open sockets. */
export async function untilSockets(gateway: GatewayProcess, wanted: number): Promise<number> {
  const giveUpAt = performance.now() + 60_000;
  while (gateway.sockets() > wanted && performance.now() < giveUpAt) await pause(100);
  return gateway.sockets();
}

/**
 * Returns the growth over the second half of the points as a fraction of the last value. The growth is determined by
 * linear regression.
 */
function growthOf(points: readonly (readonly [number, number])[]): number {
  const half = points.slice(points.length >> 1);
  return Math.max(0, slopeOf(half) * half.length) / (points.at(-1)?.[1] ?? 1);
}
