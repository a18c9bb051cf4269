import { HOUR_MS, hourOf } from '../../lib/clock.ts';
import { CHECK_NAMES } from '../../model/checks.ts';
import type { CheckVerdict, Trace } from '../../model/trace.ts';
import type { TrafficDelta } from '../ledger-batch.ts';

/** Counts requests by operation, hour and check outcome. */
interface TrafficCounts {
  count(trace: Trace): void;
  /** Returns everything counted since the previous call. */
  take(): TrafficDelta[];
}

const OUTCOMES = 3;
const WIDTH = 1 + CHECK_NAMES.length * OUTCOMES;
/** The maximum number of hours that wait to be written. Further hours are added to the oldest one. */
const MAX_HOURS = 48;

/** Creates the counts: a row of numbers per operation, so that a request costs a few additions. */
export function createTrafficCounts(operations: readonly string[]): TrafficCounts {
  const ids: readonly (string | undefined)[] = [undefined, ...operations];
  const rowOf = new Map(operations.map((id, index) => [id, (index + 1) * WIDTH]));
  const hours = new Map<number, Float64Array<ArrayBuffer>>();
  let counts = new Float64Array(ids.length * WIDTH);
  let startsAt = 0;
  let endsAt = 0;

  const selectHour = (instant: number) => {
    const hour = hourOf(instant);
    startsAt = hour * HOUR_MS;
    endsAt = startsAt + HOUR_MS;
    const known = hours.get(hour) ?? (hours.size < MAX_HOURS ? undefined : hours.values().next().value);
    counts = known ?? new Float64Array(ids.length * WIDTH);
    if (known === undefined) hours.set(hour, counts);
  };
  const tally = (verdict: CheckVerdict | undefined, index: number) => {
    if (verdict === undefined) return;
    const { outcome } = verdict;
    if (outcome === 'passed') counts[index] = (counts[index] ?? 0) + 1;
    else if (outcome === 'reported') counts[index + 1] = (counts[index + 1] ?? 0) + 1;
    else if (outcome === 'refused') counts[index + 2] = (counts[index + 2] ?? 0) + 1;
  };

  return {
    count(trace) {
      if (trace.startedAt < startsAt || trace.startedAt >= endsAt) selectHour(trace.startedAt);
      const row = trace.operation === undefined ? 0 : (rowOf.get(trace.operation) ?? 0);
      // Background work is not a request of a client, but its check results say something about the upstream.
      if (trace.background !== true) counts[row] = (counts[row] ?? 0) + 1;
      tally(trace.authentication, row + 1);
      tally(trace.requests, row + 4);
      if (mayBeRefused(trace)) tally(trace.responses, row + 7);
      tally(trace.permissions, row + 10);
      tally(trace.pageBounds, row + 13);
      tally(trace.undocumented, row + 16);
    },
    take() {
      const deltas = [...hours].flatMap(([hour, rows]) =>
        ids.flatMap((operation, index) => {
          const row = rows.subarray(index * WIDTH, (index + 1) * WIDTH);
          return row.some((count) => count !== 0)
            ? [{ operation, hour, requests: row[0] ?? 0, checks: checksOf(row) }]
            : [];
        }),
      );
      hours.clear();
      startsAt = endsAt = 0;
      return deltas;
    },
  };
}

/** Only successful responses can be refused. Error responses would distort the numbers that promotion is based on. */
function mayBeRefused({ upstream }: Trace): boolean {
  const status = upstream?.status;
  return status === undefined || (status >= 200 && status < 300);
}

function checksOf(row: Float64Array): TrafficDelta['checks'] {
  const named = CHECK_NAMES.map((name, index) => {
    const [passed = 0, reported = 0, refused = 0] = row.subarray(1 + index * OUTCOMES, 1 + (index + 1) * OUTCOMES);
    return [name, { passed, reported, refused }] as const;
  });
  return Object.fromEntries(named.filter(([, { passed, reported, refused }]) => passed + reported + refused > 0));
}
