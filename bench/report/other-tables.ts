import { formatNumber } from '../format-number.ts';
import type { LatencyRow } from '../measure-latency.ts';
import type { MemoryResult } from '../measure-memory.ts';
import type { WarmUpCurve } from '../measure-warm-up.ts';
import type { StartResult } from '../measure-start.ts';

/** Returns the table of latencies at half of each server's peak rate. */
export function latencyTable(rows: readonly LatencyRow[]): string {
  return [
    '### Latency of a hit at half of the peak, 29 kB, 32 connections',
    '',
    'Latency is measured from the time each request was due, and includes the load generator’s delays.',
    `Each column shows the median of ${rows[0]?.rounds.length ?? 0} rounds, with the smallest and the largest value in parentheses.`,
    '',
    '| server | peak req/s | rate req/s | p50 ms | p99 ms | p99.9 ms | max ms |',
    '| --- | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...rows.map(({ label, peakPerSecond, perSecond, rounds, median }) => {
      const rates = [peakPerSecond, perSecond].map((rate) => formatNumber(rate, 0));
      const times = (['p50', 'p99', 'p999', 'max'] as const).map((name) => {
        const values = rounds.map((round) => round[name]);
        const range = [Math.min(...values), Math.max(...values)].map((time) => formatNumber(time, 2));
        return `${formatNumber(median[name], 2)} (${range.join('–')})`;
      });
      return `| ${[label, ...rates, ...times].join(' | ')} |`;
    }),
    '',
  ].join('\n');
}

/** Returns the table of CPU time per request while a fresh process warms up, with about fifteen windows. */
export function warmUpTable({ requestsUntilWarm, finalCpuUs, windows }: WarmUpCurve): string {
  let sent = 0;
  const every = Math.max(1, Math.round(windows.length / 15));
  const shown = windows
    .map(({ requests, cpuUs }) => ({ sent: (sent += requests), cpuUs }))
    .filter((_, at) => at % every === 0 || at === windows.length - 1);
  return [
    '### Warm-up of a hit',
    '',
    `A fresh process stays within 20% of its final CPU time (${formatNumber(finalCpuUs, 1)} µs) after ${formatNumber(requestsUntilWarm, 0)} requests.`,
    '',
    `| requests | ${shown.map((one) => formatNumber(one.sent, 0)).join(' | ')} |`,
    `| --- | ${shown.map(() => '---:').join(' | ')} |`,
    `| CPU µs/request | ${shown.map(({ cpuUs }) => formatNumber(cpuUs, 0)).join(' | ')} |`,
    '',
  ].join('\n');
}

/** Returns the table of startup times and idle memory. */
export function startTable({ readyMs, restBytes }: StartResult): string {
  const row = (name: string, values: readonly number[]) =>
    `| ${name} | ${values.map((value) => formatNumber(value, 0)).join(' | ')} |`;
  const mb = (bytes: number) => bytes / 1e6;
  return [
    '### Startup of Portico with a real upstream',
    '',
    '| | median | min | max |',
    '| --- | ---: | ---: | ---: |',
    row('process start until `/readyz` is 200, ms', [readyMs.median, readyMs.min, readyMs.max]),
    row('RSS two seconds later, MB', [restBytes.median, restBytes.min, restBytes.max].map(mb)),
    '',
  ].join('\n');
}

/**
 * Returns the tables that show the memory in use while distinct keys are requested. Each table shows about twenty
 * samples.
 */
export function memoryTable(memory: MemoryResult): string {
  const every = Math.max(1, Math.round(memory.samples.length / 20));
  const shown = memory.samples.filter((_, at) => (at + 1) % every === 0 || at === memory.samples.length - 1);
  const mb = (bytes: number) => formatNumber(bytes / 1e6, 0);
  return [
    `### Memory: ${formatNumber(memory.keys, 0)} distinct keys, cache budget ${mb(memory.budgetBytes)} MB`,
    '',
    '| RSS | MB | beyond warm idle memory |',
    '| --- | ---: | ---: |',
    `| idle, two seconds after ready | ${mb(memory.restBytes)} | |`,
    `| warm idle, after 4,000 misses whose pages were purged | ${mb(memory.warmRestBytes)} | |`,
    ...[['highest of the run', memory.peakBytes] as const, ['end of the run', memory.endBytes] as const].map(
      ([name, bytes]) => `| ${name} | ${mb(bytes)} | ${mb(bytes - memory.warmRestBytes)} |`,
    ),
    '',
    `Over the second half of the run, RSS changed by ${formatNumber(memory.lastHalfSlope / 1e6)} MB per million keys. At the end, the cache contained`,
    `${formatNumber(memory.entries, 0)} pages that took up ${mb(memory.cacheBytes)} MB according to its own accounting, and a request for the last key was a hit.`,
    '',
    `| keys | ${shown.map(({ keys }) => formatNumber(keys, 0)).join(' | ')} |`,
    `| --- | ${shown.map(() => '---:').join(' | ')} |`,
    `| RSS MB | ${shown.map(({ rssBytes }) => mb(rssBytes)).join(' | ')} |`,
    '',
  ].join('\n');
}
