import type { Case } from './cases.ts';
import { countMetric } from './count-metric.ts';
import { REQUEST_HEADERS } from './peers/credentials.ts';
import type { Running } from './program.ts';
import { type LoadResult, type Observer, runWrk } from './wrk.ts';

/** The requests of a few seconds. */
export interface Round {
  readonly requests: number;
  readonly perSecond: number;
  /** The CPU time per request in microseconds, summed over all of the server's processes and threads. */
  readonly cpuUs: number;
  /** The bytes of a response, including the head. */
  readonly bytes: number;
}

/** Sends requests as fast as possible. Rejects if a response was wrong or Portico did not count it as expected. */
export type SendLoad = (seconds: number, observer?: Observer) => Promise<Round>;

const CONNECTIONS = 32;

/** On a busy machine, a short round can end without any response. It is repeated once, and then lasts this long. */
const STALL_SECONDS = 1.5;

/** Creates the load for a running server, whose responses must have this many bytes. */
export function createLoad(
  { path, counted, hasNewTargets }: Case,
  running: Running,
  { port, adminPort, bytes }: { port: number; adminPort: number | undefined; bytes: number },
): SendLoad {
  let nextKey = 0;
  const countNow = async () =>
    adminPort === undefined || counted === undefined ? undefined : countMetric(adminPort, counted);
  const load = async (seconds: number, observer?: Observer, isRepeated = false): Promise<Round> => {
    running.emptyLog();
    const countedBefore = (await countNow()) ?? 0;
    const cpuBefore = running.cpuNs();
    const target = { port, path, firstKey: hasNewTargets === true ? nextKey : undefined };
    const result = await runWrk({ ...target, headers: REQUEST_HEADERS, connections: CONNECTIONS, seconds }, observer);
    const cpuNs = running.cpuNs() - cpuBefore;
    const countedAfter = await countNow();
    const { requests } = result;
    nextKey += requests + CONNECTIONS + 1;
    if (requests === 0 && !isRepeated) return load(Math.max(seconds, STALL_SECONDS), observer, true);
    const grown = countedAfter === undefined ? undefined : countedAfter - countedBefore;
    const fault = faultOf(result, bytes, grown);
    if (fault !== undefined) throw new Error(fault);
    if (!(cpuNs > 0)) throw new Error('the CPU time could not be read');
    // The requests under way at the end are half done on average. Without them, slow servers would seem even slower.
    const served = requests + CONNECTIONS / 2;
    return { requests, perSecond: requests / result.seconds, cpuUs: cpuNs / 1000 / served, bytes };
  };
  return load;
}

/**
 * Returns what is wrong with the responses of a round, given the bytes of a right one and by how much Portico's metric
 * grew. The number of bytes shows whether the pages were complete, so that the responses do not have to be parsed.
 */
export function faultOf(
  { requests, bytes, errorStatuses, socketErrors }: LoadResult,
  right: number,
  grown: number | undefined,
): string | undefined {
  if (requests === 0) return 'no response arrived, not even in the repeated round';
  if (socketErrors > 0) return `there were ${socketErrors} socket errors`;
  if (errorStatuses > 0) return `${errorStatuses} of ${requests} responses were errors`;
  if (grown !== undefined && grown < requests) return `the metrics counted only ${grown} of ${requests} requests`;
  const each = bytes / requests;
  const tolerance = Math.max(24, right * 0.01);
  // Of the responses under way at the end, wrk counts the bytes but not the request.
  const underWay = (right * CONNECTIONS) / requests;
  if (each >= right - tolerance && each <= right + tolerance + underWay) return undefined;
  return `responses had ${each.toFixed(0)} bytes instead of ${right}`;
}
