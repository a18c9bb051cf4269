import type { Difference, Verdict } from '../../comparison/comparator.ts';
import { distinctPlace, DISTINCT_BYTES, estimateDistinct, markDistinct } from '../../lib/distinct-count.ts';
import { upperShare } from '../../lib/share-bounds.ts';
import { type Clock, hourOf } from '../../lib/clock.ts';

/** How an exchange ended. Each exchange with the legacy server has exactly one outcome. */
export const OUTCOMES = ['equal', 'different', 'muted', 'notComparable', 'notMade'] as const;

/** The outcome of one exchange. */
export type Outcome = (typeof OUTCOMES)[number];

/** Why a response of the legacy server was not compared, although there was one. */
export const NOT_MADE = [
  'caller not chosen',
  'stored page',
  'shared response',
  'other server',
  'credential',
  'id without a counterpart',
  'queue full',
  'waited too long',
  'second server paused',
  'too many requests at once',
  'interrupted',
] as const;

/** A reason why a comparison was not made. */
export type NotMade = (typeof NOT_MADE)[number];

/** Where an exchange is counted. The role is empty if it is not known, as for stored pages. */
export interface Cell {
  readonly operation: string;
  /** The status of the legacy server's response. 0 if there was none. */
  readonly status: number;
  readonly role: string;
}

/** The counts of one operation, status and role. */
export interface CountRow extends Cell, Readonly<Record<Outcome, number>> {
  /** How many of the different exchanges have only accepted differences. */
  readonly accepted: number;
  /** How many differences vanished when both servers were asked again. */
  readonly races: number;
}

/** What one comparison has shown. */
export interface Compared {
  readonly outcome: 'equal' | 'different' | 'muted';
  /** True if all differences are accepted. */
  readonly isAccepted: boolean;
  readonly isRace: boolean;
  /** True if a difference counts although both servers could not be asked again. */
  readonly isUnconfirmed: boolean;
  /** The number of items at the edges of pages that cannot be judged. */
  readonly undecided: number;
  readonly verdicts: { readonly old: Verdict; readonly new: Verdict };
  readonly seconds: { readonly old: number; readonly new: number };
  /** A number that stands for the caller, from 0 to 1. */
  readonly caller: number;
}

/** How far one operation is from being served by the second server. */
export interface Readiness {
  readonly operation: string;
  /** The exchanges with the legacy server, mirrored or not. */
  readonly exchanges: number;
  readonly compared: number;
  readonly equal: number;
  readonly muted: number;
  readonly different: number;
  readonly accepted: number;
  readonly races: number;
  readonly unconfirmed: number;
  readonly undecided: number;
  readonly notComparable: number;
  readonly notMade: number;
  /** The compared share of the exchanges. */
  readonly coverage: number;
  /** About how many callers were compared. */
  readonly callers: number;
  /** The share of exchanges that would differ is below this, with a confidence of 95%. */
  readonly atMost: number;
  /** The number of exchanges by the verdicts on both responses, as `old → new`. */
  readonly verdicts: Readonly<Record<string, number>>;
  readonly because: Readonly<Record<string, number>>;
  readonly latency: { readonly old: Latency; readonly new: Latency };
}

/** The response times of one server, in seconds. */
export interface Latency {
  readonly count: number;
  readonly sum: number;
  /** The number of responses that took at most as long as each of `LATENCY_BOUNDS`. */
  readonly buckets: readonly number[];
}

/** The upper bounds of the classes of response times, in seconds. */
export const LATENCY_BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

/** One distinct difference, with the first pair of values, described so that they are not revealed. */
export interface Finding extends Cell {
  readonly fingerprint: string;
  readonly keyword: string;
  readonly at: string;
  readonly message: string;
  readonly old: string;
  readonly new: string;
  readonly verdicts: Compared['verdicts'];
  readonly firstSeenAt: number;
  readonly lastSeenAt: number;
  readonly count: number;
}

/** What has been counted since the mirror began with a second server. Its size is bounded. */
export interface MirrorCounts {
  readonly since: number;
  compared(cell: Cell, compared: Compared): void;
  notComparable(cell: Cell, because: string): void;
  notMade(cell: Cell, because: NotMade): void;
  found(
    cell: Cell,
    finding: Pick<Finding, 'fingerprint' | 'keyword' | 'at' | 'message' | 'verdicts'>,
    shown: Pick<Difference, 'old' | 'new'>,
  ): void;
  /** Returns how often an operation has been compared. */
  comparedOf(operation: string): number;
  /** Returns how often an operation has been compared in this hour. */
  comparedLately(operation: string): number;
  readiness(): readonly Readiness[];
  rows(): readonly CountRow[];
  findings(): readonly Finding[];
  /** Returns the number of exchanges that were left out, by reason. */
  leftOut(): ReadonlyMap<string, number>;
}

const MAX_ROWS = 2_000;
const MAX_FINDINGS = 500;
const OTHER_ROLE = 'other';

interface OfOperation {
  readonly verdicts: Map<string, number>;
  readonly because: Map<string, number>;
  readonly callers: Uint8Array;
  readonly latency: { readonly old: MutableLatency; readonly new: MutableLatency };
  unconfirmed: number;
  undecided: number;
  hour: number;
  lately: number;
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };
type MutableLatency = { count: number; sum: number; readonly buckets: number[] };

const noLatency = (): MutableLatency => ({ count: 0, sum: 0, buckets: LATENCY_BOUNDS.map(() => 0) });

/** Creates empty counts for the operations that can be mirrored. */
export function createMirrorCounts(clock: Clock): MirrorCounts {
  const since = clock();
  const rows = new Map<string, Mutable<CountRow>>();
  const operations = new Map<string, OfOperation>();
  const findings = new Map<string, Mutable<Finding>>();
  const leftOut = new Map<string, number>();
  const rowOf = ({ operation, status, role }: Cell) => {
    const key = `${operation} ${status} ${role}`;
    const known = rows.get(key);
    if (known !== undefined) return known;
    if (rows.size >= MAX_ROWS && role !== OTHER_ROLE) return rowOf({ operation, status: 0, role: OTHER_ROLE });
    const counts = { equal: 0, different: 0, muted: 0, notComparable: 0, notMade: 0, accepted: 0, races: 0 };
    const row = { operation, status, role, ...counts };
    rows.set(key, row);
    return row;
  };
  const operationOf = (id: string): OfOperation => {
    const known = operations.get(id) ?? {
      verdicts: new Map<string, number>(),
      because: new Map<string, number>(),
      callers: new Uint8Array(DISTINCT_BYTES),
      latency: { old: noLatency(), new: noLatency() },
      unconfirmed: 0,
      undecided: 0,
      hour: 0,
      lately: 0,
    };
    operations.set(id, known);
    return known;
  };
  const ownRows = (id: string) => [...rows.values()].filter(({ operation }) => operation === id);
  const comparedOf = (id: string) => ownRows(id).reduce((sum, row) => sum + row.equal + row.different + row.muted, 0);
  const leave = (cell: Cell, outcome: 'notComparable' | 'notMade', because: string) => {
    rowOf(cell)[outcome] += 1;
    increase(operationOf(cell.operation).because, because);
    increase(leftOut, because);
  };
  const readinessOf = (operation: string): Readiness => {
    const own = operationOf(operation);
    const sums = { equal: 0, different: 0, muted: 0, notComparable: 0, notMade: 0, accepted: 0, races: 0 };
    for (const row of ownRows(operation))
      for (const name of [...OUTCOMES, 'accepted', 'races'] as const) sums[name] += row[name];
    const compared = sums.equal + sums.different + sums.muted;
    const exchanges = compared + sums.notComparable + sums.notMade;
    return {
      operation,
      exchanges,
      compared,
      ...sums,
      unconfirmed: own.unconfirmed,
      undecided: own.undecided,
      coverage: exchanges === 0 ? 0 : compared / exchanges,
      callers: estimateDistinct(own.callers),
      atMost: upperShare(sums.different - sums.accepted, compared),
      verdicts: Object.fromEntries(own.verdicts),
      because: Object.fromEntries(own.because),
      latency: own.latency,
    };
  };
  return {
    since,
    compared(cell, { outcome, isAccepted, isRace, isUnconfirmed, undecided, verdicts, seconds, caller }) {
      const row = rowOf(cell);
      row[outcome] += 1;
      if (outcome === 'different' && isAccepted) row.accepted += 1;
      if (isRace) row.races += 1;
      const own = operationOf(cell.operation);
      if (isUnconfirmed) own.unconfirmed += 1;
      own.undecided += undecided;
      increase(own.verdicts, `${verdicts.old} → ${verdicts.new}`);
      markDistinct(own.callers, [distinctPlace(Math.floor(caller * 2 ** 32))]);
      for (const side of ['old', 'new'] as const) {
        const latency = own.latency[side];
        latency.count += 1;
        latency.sum += seconds[side];
        LATENCY_BOUNDS.forEach((bound, index) => {
          if (seconds[side] <= bound) latency.buckets[index] = (latency.buckets[index] ?? 0) + 1;
        });
      }
      const hour = hourOf(clock());
      if (own.hour !== hour) Object.assign(own, { hour, lately: 0 });
      own.lately += 1;
    },
    notComparable: (cell, because) => leave(cell, 'notComparable', because),
    notMade: (cell, because) => leave(cell, 'notMade', because),
    found(cell, { fingerprint, keyword, at, message, verdicts }, { old, new: next }) {
      const known = findings.get(fingerprint);
      const now = clock();
      if (known !== undefined) {
        known.count += 1;
        known.lastSeenAt = now;
        return;
      }
      // The ledger has the others, too.
      if (findings.size >= MAX_FINDINGS) return;
      const times = { firstSeenAt: now, lastSeenAt: now, count: 1 };
      // Only these members: the cell may be an exchange with all of its data.
      const { operation, status, role } = cell;
      const what = { operation, status, role, fingerprint, keyword, at, message, verdicts };
      findings.set(fingerprint, { ...what, old, new: next, ...times });
    },
    comparedOf,
    comparedLately(id) {
      const own = operations.get(id);
      return own === undefined || own.hour !== hourOf(clock()) ? 0 : own.lately;
    },
    readiness: () => [...new Set([...rows.values()].map(({ operation }) => operation))].toSorted().map(readinessOf),
    rows: () => [...rows.values()],
    findings: () => [...findings.values()].toSorted((a, b) => b.lastSeenAt - a.lastSeenAt),
    leftOut: () => leftOut,
  };
}

function increase(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
