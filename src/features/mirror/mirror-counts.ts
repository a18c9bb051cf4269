import type { Difference, Verdict } from '../../comparison/comparator.ts';
import { boundedMemo } from '../../lib/bounded-maps.ts';
import { type Clock, hourOf } from '../../lib/clock.ts';
import {
  addTotals,
  type Finding,
  MAX_FINDINGS,
  MAX_SAMPLE,
  mergeFound,
  type MirrorTotals,
  noTotals,
  shortened,
} from './mirror-totals.ts';

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
  /** The documented query parameters in the request. */
  readonly parameters: readonly string[];
}

/** What one comparison has shown. */
export interface Compared {
  readonly outcome: 'equal' | 'different' | 'muted';
  /** The fingerprints of the differences that count. Leaks, which nobody can accept, are marked. */
  readonly found: readonly string[];
  readonly isRace: boolean;
  /** True if a difference counts although both servers could not be asked again. */
  readonly isUnconfirmed: boolean;
  /** The number of items at the edges of pages that cannot be judged. */
  readonly undecided: number;
  readonly verdicts: { readonly old: Verdict; readonly new: Verdict };
  readonly seconds: { readonly old: number; readonly new: number };
  readonly versions: { readonly contract: string; readonly release: string };
  /** A number that stands for the caller, from 0 to 2³² - 1. Undefined if it is not known yet. */
  readonly caller: number | undefined;
}

/** The upper bounds of the classes of response times, in seconds. */
export const LATENCY_BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

/** The mark before the fingerprint of a leak. */
export const LEAK_MARK = '!';
/** The name under which all requests are counted, whatever their parameters. */
export const NO_PARAMETER = '';

/** What is counted, in memory at first. Its size is bounded. */
export interface MirrorCounts {
  compared(cell: Cell, compared: Compared): void;
  notComparable(cell: Cell, because: string): void;
  notMade(cell: Cell, because: NotMade): void;
  found(
    cell: Cell,
    finding: Pick<Finding, 'fingerprint' | 'keyword' | 'at' | 'message' | 'verdicts'>,
    shown: Pick<Difference, 'old' | 'new' | 'beside'>,
  ): void;
  /** Returns how often this gateway has compared an operation. */
  comparedOf(operation: string): number;
  /** Returns how often this gateway has compared an operation in this hour. */
  comparedLately(operation: string): number;
  /** Returns what this gateway has counted since it started. */
  own(): MirrorTotals;
  /** Returns what was counted since the last `take`. */
  pending(): Counted;
  /** Returns the same, and begins again. */
  take(): Counted;
}

/** What has been counted for a while. */
export type Counted = Pick<MirrorTotals, 'sums' | 'callers' | 'findings'>;

/** The maximum number of cells, so that roles cannot fill the memory. */
const MAX_CELLS = 4_000;
const OTHER_ROLE = 'other';
const MAX_REMEMBERED = 1_000;
/** The maximum number of sets of differences that are told apart in an operation. */
const MAX_SETS = 200;
/** The maximum number of differences in a set. */
const MAX_SET = 12;
/** Stands for a set that is not told apart. Nobody can accept it. */
export const OTHER_SET = '*';

/** Creates empty counts. */
export function createMirrorCounts(subject: string, clock: Clock): MirrorCounts {
  let own = noTotals(subject, clock());
  let sums = new Map<string, number>();
  let callers = new Map<string, Map<number, readonly string[]>>();
  let findings = new Map<string, Finding>();
  /** The largest number in each full sample. */
  const largestOf = new WeakMap<object, number>();
  const cells = new Set<string>();
  const sets = new Map<string, Set<string>>();
  const lately = new Map<string, { compared: number; hour: number; lately: number }>();
  const increase = (key: string, by = 1) => {
    seen = undefined;
    sums.set(key, (sums.get(key) ?? 0) + by);
  };
  const add = (words: readonly (string | number)[], by?: number) => increase(words.join('\n'), by);
  // Most exchanges are counted in the same few cells, so their keys are made only once.
  const keysOf = boundedMemo(MAX_REMEMBERED, (_name: string, given: Cell & { readonly outcome: Outcome | 'races' }) => {
    const { operation, status, role, parameters, outcome } = given;
    const key = `${operation}\n${status}\n${role}`;
    const isKnown = cells.has(key) || (cells.size < MAX_CELLS && cells.add(key).size > 0);
    const place = isKnown ? [status, role] : [0, OTHER_ROLE];
    return [NO_PARAMETER, ...parameters].map((parameter) =>
      ['cell', operation, ...place, parameter, outcome].join('\n'),
    );
  });
  const addCell = ({ operation, status, role, parameters }: Cell, outcome: Outcome | 'races') => {
    const name = `${operation}\n${status}\n${role}\n${parameters.join(' ')}\n${outcome}`;
    for (const key of keysOf(name, { operation, status, role, parameters, outcome })) increase(key);
  };
  const leave = (cell: Cell, outcome: 'notComparable' | 'notMade', because: string) => {
    addCell(cell, outcome);
    increase(`because\n${cell.operation}\n${because}`);
  };
  const setOf = (operation: string, found: readonly string[]) => {
    if (found.length > MAX_SET) return OTHER_SET;
    const set = [...new Set(found)].toSorted().join(' ');
    const known = sets.get(operation) ?? new Set<string>();
    sets.set(operation, known);
    return known.has(set) || (known.size < MAX_SETS && known.add(set).size > 0) ? set : OTHER_SET;
  };
  /** The result of `own`, until something else is counted. */
  let seen: MirrorTotals | undefined = own;
  return {
    compared(cell, { outcome, found, isRace, isUnconfirmed, undecided, verdicts, seconds, versions, caller }) {
      const { operation } = cell;
      addCell(cell, outcome);
      if (isRace) addCell(cell, 'races');
      if (outcome === 'different') add(['different', operation, setOf(operation, found)]);
      if (isUnconfirmed) add(['unconfirmed', operation]);
      if (undecided > 0) add(['undecided', operation], undecided);
      add(['verdicts', operation, `${verdicts.old} → ${verdicts.new}`]);
      add(['versions', versions.contract, versions.release]);
      for (const side of ['old', 'new'] as const) {
        add(['microseconds', operation, side], Math.round(seconds[side] * 1e6));
        const index = LATENCY_BOUNDS.findIndex((bound) => seconds[side] <= bound);
        add(['time', operation, side, index < 0 ? LATENCY_BOUNDS.length : index]);
      }
      if (caller !== undefined) {
        const sample = callers.get(operation) ?? new Map<number, readonly string[]>();
        callers.set(operation, sample);
        const isFull = sample.size >= MAX_SAMPLE && !sample.has(caller);
        const largest = isFull ? (largestOf.get(sample) ?? Math.max(...sample.keys())) : Infinity;
        if (isFull) largestOf.set(sample, largest);
        // Whoever would leave the sample at the next merge need not enter it.
        if (caller < largest || !isFull)
          sample.set(caller, mergeFound(sample.get(caller), outcome === 'different' ? found : []));
        if (sample.size > MAX_SAMPLE) {
          sample.delete(largest);
          largestOf.delete(sample);
        }
      }
      const hour = hourOf(clock());
      const known = lately.get(operation) ?? { compared: 0, hour, lately: 0 };
      const isSameHour = known.hour === hour;
      lately.set(operation, { compared: known.compared + 1, hour, lately: (isSameHour ? known.lately : 0) + 1 });
    },
    notComparable: (cell, because) => leave(cell, 'notComparable', because),
    notMade: (cell, because) => leave(cell, 'notMade', because),
    found({ operation, status, role }, { fingerprint, keyword, at, message, verdicts }, shown) {
      const now = clock();
      const known = findings.get(fingerprint);
      // The ledger has the others, too.
      if (known === undefined && findings.size >= MAX_FINDINGS) return;
      add(['finding', fingerprint]);
      findings.set(
        fingerprint,
        known === undefined
          ? shortened({
              fingerprint,
              operation,
              status,
              role,
              keyword,
              at,
              message,
              verdicts,
              old: shown.old,
              new: shown.new,
              beside: shown.beside ?? [],
              firstSeenAt: now,
              lastSeenAt: now,
            })
          : { ...known, lastSeenAt: now },
      );
    },
    comparedOf: (operation) => lately.get(operation)?.compared ?? 0,
    comparedLately(operation) {
      const known = lately.get(operation);
      return known?.hour === hourOf(clock()) ? known.lately : 0;
    },
    own: () => (seen ??= addTotals(own, { sums, callers, findings })),
    pending: () => ({ sums, callers, findings }),
    take() {
      own = addTotals(own, { sums, callers, findings });
      seen = own;
      const taken = { sums, callers, findings };
      sums = new Map();
      callers = new Map();
      findings = new Map();
      return taken;
    },
  };
}
