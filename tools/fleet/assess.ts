import { percentileOf } from '../prove/load/statistics.ts';
import { grouped } from '../prove/proof.ts';
import { cacheResult, type CacheResult, countFills, createStaleness, leaksOf } from './checks.ts';
import { type FillEvent, isWithin, type ReadEvent, type WriteEvent } from './events.ts';
import { type FleetRun, sumOf } from './run-fleet.ts';

/** One row in the table: what was checked or measured, and whether the value is within its bound. */
export interface Row {
  readonly what: string;
  readonly value: string;
  /** The bound in words. Undefined for measured values without a bound. */
  readonly bound?: string;
  /** Whether the value is within the bound. */
  readonly holds?: boolean;
  /** Examples of values that exceeded the bound. */
  readonly examples?: readonly string[];
}

/** The values measured during the steady windows. */
export interface Figures {
  readonly requestsPerSecond: number;
  readonly reads: number;
  readonly results: Readonly<Record<CacheResult, number>>;
  /** The share of reads that were served from memory or from Redis. */
  readonly hitRatio: number;
  /** The number of fetches from the upstream per read. */
  readonly fetchesPerRead: number;
  /** The number of fetches per page and period. */
  readonly fillsPerPeriod: number;
  readonly commandsPerRequest: number;
  readonly gatewayCpuUsPerRequest: number;
  readonly redisCpuUsPerCommand: number;
  readonly redisCpuUsPerRequest: number;
  readonly writesPerSecond: number;
}

/** The maximum time that a purge may take under normal conditions, in milliseconds. */
export const CONNECTED_BOUND_MS = 1000;
/** The maximum time that a purge may take to reach a gateway, measured from the response to the write. */
const PURGE_SLACK_MS = 250;
/**
 * The maximum share of fetches that retrieve a page a second time after the same purge. Until a gateway has read its
 * own purge in the log, it does not use other gateways' pages, because they might be older than the purge.
 */
const MAX_SECOND_SHARE = 0.001;

/** Computes the values for the steady windows. */
export function figuresOf(run: FleetRun): Figures {
  const { costs, steady } = run;
  const seconds = costs.reduce((sum, one) => sum + one.seconds, 0);
  const requests = costs.reduce((sum, one) => sum + one.requests, 0);
  const commands = costs.reduce((sum, one) => sum + sumOf(one.commands), 0);
  const gatewayCpuMs = costs.reduce((sum, one) => sum + one.gatewayCpuMs.reduce((own, ms) => own + ms, 0), 0);
  const redisCpuMs = costs.reduce((sum, one) => sum + one.redisCpuMs, 0);
  const isSteady = (at: number) => steady.some((window) => isWithin(window, at));
  const reads = run.seen.reads.filter(({ startedAt, probe }) => !probe && isSteady(startedAt));
  const results = { memory: 0, shared: 0, collapsed: 0, fetched: 0 };
  for (const { cache } of reads) results[cacheResult(cache)] += 1;
  const fills = run.fills.filter(({ at, audience }) => isSteady(at) && audience !== 'probe').length;
  const { periods, excess, excessAtPurges } = fillsOf(run);
  return {
    requestsPerSecond: requests / seconds,
    reads: reads.length,
    results,
    hitRatio: (results.memory + results.shared) / reads.length,
    fetchesPerRead: fills / reads.length,
    fillsPerPeriod: (periods + excess.length + excessAtPurges.length) / periods,
    commandsPerRequest: commands / requests,
    gatewayCpuUsPerRequest: (gatewayCpuMs * 1000) / requests,
    redisCpuUsPerCommand: (redisCpuMs * 1000) / commands,
    redisCpuUsPerRequest: (redisCpuMs * 1000) / requests,
    writesPerSecond: run.writes.filter(({ respondedAt }) => isSteady(respondedAt)).length / seconds,
  };
}

function fillsOf(run: FleetRun) {
  // It is unknown when a write without a response ended, so the latest allowed time is assumed.
  const unanswered = run.unanswered.map(({ number, at, tags }): WriteEvent => ({
    number,
    tags,
    effectAt: at,
    respondedAt: at + CONNECTED_BOUND_MS,
  }));
  return countFills(run.fills, [...run.writes, ...unanswered], run.steady, tagsIn(run), {
    freshMs: run.settings.freshSeconds * (1 - run.settings.earlyRefresh) * 1000,
    purgeSlackMs: PURGE_SLACK_MS,
  });
}

function tagsIn({ workload }: FleetRun): (page: number) => readonly string[] {
  return (page) => workload.pages[page]?.tags ?? [];
}

/** Checks the results of a run. */
export function assess(run: FleetRun): readonly Row[] {
  const { settings, seen, steady, disturbances, costs } = run;
  const figures = figuresOf(run);
  const { failed, cut } = failuresOf(run);
  const staleness = createStaleness(run.writes, tagsIn(run));
  const outdated = seen.reads
    .filter(({ probe }) => !probe)
    .map((read) => ({ read, ms: staleness(read) }))
    .filter(({ ms }) => ms > 0)
    .toSorted((one, other) => other.ms - one.ms);
  const steadyOutdated = outdated.filter(({ read }) => steady.some((window) => isWithin(window, read.startedAt)));
  const late = outdated.filter(({ ms }) => ms > settings.maxUnsyncedSeconds * 1000);
  const slow = steadyOutdated.filter(({ ms }) => ms > CONNECTED_BOUND_MS);
  const leaks = leaksOf(seen.reads);
  const { periods, excess, excessAtPurges } = fillsOf(run);
  const fetches = periods + excess.length + excessAtPurges.length;
  const arrivals = seen.arrivals
    .filter(({ respondedAt }) => steady.some((window) => isWithin(window, respondedAt)))
    .map(({ ms }) => ms ?? Infinity)
    .toSorted((one, other) => one - other);
  const missing = seen.arrivals.filter(({ ms }) => ms === undefined);
  const describeRead = ({ read, ms }: { readonly read: ReadEvent; readonly ms: number }) =>
    `${run.workload.pages[read.page]?.target} of ${read.audience}: version ${read.seen.version}, ${ms.toFixed(0)} ms old (${read.cache})`;
  const describeFill = ({ page, audience, version }: FillEvent) =>
    `${run.workload.pages[page]?.target} for ${audience}, version ${version}`;
  const percent = (count: number) => `${((100 * count) / Math.max(1, figures.reads)).toFixed(1)}%`;
  const perGateway = costs[0]?.gatewayCpuMs.map((_, index) => {
    const ms = costs.reduce((sum, one) => sum + (one.gatewayCpuMs[index] ?? 0), 0);
    const own = costs.reduce((sum, one) => sum + (one.requestsOf[index] ?? 0), 0);
    return (ms * 1000) / Math.max(1, own);
  });
  const costOf = (name: 'requests' | 'sent' | 'unanswered') => costs.reduce((sum, one) => sum + one[name], 0);
  const [requests, sent, unanswered] = [costOf('requests'), costOf('sent'), costOf('unanswered')];
  return [
    bounded(
      'failed requests',
      [...failed.map(({ method, what }) => `${method}: ${what}`), ...run.unexpected.map((one) => `unexpected ${one}`)],
      '0',
      ` of ${grouped(run.requests)}`,
    ),
    ...(disturbances === undefined
      ? []
      : [
          {
            what: 'writes in progress on the killed gateway, which the balancer must not repeat',
            value: grouped(cut.length),
            bound: 'at most 1',
            holds: cut.length <= 1,
            examples: cut.map(({ method, what }) => `${method}: ${what}`),
          },
          {
            what: 'requests that the balancer repeated on another gateway',
            value: run.repeated === undefined ? 'not counted by nginx' : grouped(run.repeated),
          },
        ]),
    bounded(
      `reads more than ${CONNECTED_BOUND_MS / 1000} s out of date while Redis is connected`,
      slow.map(describeRead),
      '0',
    ),
    bounded(
      `reads more than ${settings.maxUnsyncedSeconds} s (redis.maxUnsyncedSeconds) out of date at any time`,
      late.map(describeRead),
      '0',
    ),
    {
      what: 'all reads that were out of date, and the longest time',
      value: `${grouped(outdated.length)} of ${grouped(seen.reads.filter(({ probe }) => !probe).length)}; ${(steadyOutdated[0]?.ms ?? 0).toFixed(0)} ms while Redis is connected, ${(outdated[0]?.ms ?? 0).toFixed(0)} ms otherwise`,
    },
    bounded(
      'pages that belong to another caller or role, or require a permission that the caller lacks',
      leaks.map(({ page, audience, seen: { audience: other } }) => `page ${page} of ${other} for ${audience}`),
      '0',
      ` of ${grouped(seen.reads.length)} (${grouped(seen.refused)} requests were refused with a 403)`,
    ),
    bounded(
      'fetches of a page that was still fresh, without a purge',
      excess.map(describeFill),
      '0',
      `: ${(1 + excess.length / Math.max(1, periods)).toFixed(4)} fetches per page and expiry, ${grouped(fetches)} fetches`,
    ),
    {
      what: 'second fetches of a page after the same purge',
      value: `${grouped(excessAtPurges.length)} of ${grouped(fetches)} fetches`,
      bound: 'at most 1 in 1,000',
      holds: excessAtPurges.length <= fetches * MAX_SECOND_SHARE,
      examples: excessAtPurges.slice(0, 5).map(describeFill),
    },
    {
      what: 'hit ratio',
      value: `${percent(figures.results.memory + figures.results.shared)}: ${percent(figures.results.memory)} from memory, ${percent(figures.results.shared)} from Redis; ${percent(figures.results.collapsed)} joined a fetch of the same gateway`,
    },
    ...(arrivals.length === 0
      ? []
      : [
          {
            what: 'time from the response to a write until each gateway shows it: p50, p99, max',
            value: `${[0.5, 0.99, 1].map((share) => `${percentileOf(arrivals, share).toFixed(1)} ms`).join(', ')} (${grouped(arrivals.length)} arrivals, ${missing.length} missing)`,
            bound: `${CONNECTED_BOUND_MS} ms`,
            holds: missing.length === 0 && (arrivals.at(-1) ?? 0) <= CONNECTED_BOUND_MS,
          },
        ]),
    {
      what: 'CPU time per request of each gateway',
      value: `${(perGateway ?? []).map((us) => us.toFixed(0)).join(', ')} µs`,
    },
    {
      what: 'CPU time of Redis per request, and per command',
      value: `${figures.redisCpuUsPerRequest.toFixed(0)} µs, ${figures.redisCpuUsPerCommand.toFixed(1)} µs`,
    },
    {
      what: 'Redis commands (including those in scripts) per request, and per second for each idle gateway',
      value: `${figures.commandsPerRequest.toFixed(2)}, ${run.idleCommandsPerSecond.toFixed(1)}`,
    },
    {
      what: 'commands that gateways sent to Redis per request, and how many had no result',
      value: `${(sent / requests).toFixed(2)}; ${grouped(unanswered)} of ${grouped(sent)}`,
    },
    {
      what: 'memory of each gateway, and of Redis',
      value: `${run.rssBytes.map((bytes) => (bytes / 2 ** 20).toFixed(0)).join(', ')} MiB, ${(run.redisBytes / 2 ** 20).toFixed(1)} MiB`,
    },
    {
      what: 'load in the steady windows',
      value: `${figures.requestsPerSecond.toFixed(0)} requests and ${figures.writesPerSecond.toFixed(1)} writes per second from ${settings.callers} callers`,
    },
  ];
}

/**
 * Separates the failures into two groups: requests that failed because a gateway was killed and that must not be
 * retried, and all others.
 */
function failuresOf({ seen, disturbances }: FleetRun) {
  const killedAt = disturbances?.killedAt;
  const isCut = ({ startedAt, endedAt, method }: FleetRun['seen']['failures'][number]) =>
    killedAt !== undefined && method === 'POST' && startedAt <= killedAt && killedAt <= endedAt;
  return { failed: seen.failures.filter((one) => !isCut(one)), cut: seen.failures.filter(isCut) };
}

/** Returns the table row for a check that must not find any faults. */
function bounded(what: string, faults: readonly string[], bound: string, note = ''): Row {
  return {
    what,
    value: `${grouped(faults.length)}${note}`,
    bound,
    holds: faults.length === 0,
    examples: faults.slice(0, 5),
  };
}
