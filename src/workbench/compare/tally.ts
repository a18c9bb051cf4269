import type { Clock } from '../../lib/clock.ts';
import {
  type LedgerEntry,
  type LedgerSnapshot,
  type OperationTraffic,
  ruleOf,
} from '../../engine/model/ledger-entry.ts';
import { createTrace, toVerdict, type Trace } from '../../engine/model/trace.ts';
import { traceContext } from '../../engine/telemetry/trace-context.ts';
import type { KindOf } from '../../engine/model/violation-kind.ts';
import type { LateExchange, LateResult, PairResult } from '../../comparison/comparator.ts';
import type { Difference } from '../../comparison/comparator.ts';
import type { Scope } from '../../comparison/place.ts';
import { LEAK, toViolation } from '../../comparison/difference-violation.ts';

/** Why a request of the source was not sent. */
export type NotMade =
  | 'not a GET request'
  | 'not in the contract'
  | 'contains a credential'
  | 'asked already'
  | 'id without a counterpart'
  | 'not readable'
  | 'for another host'
  | 'planned, but not sent';

/** The counts of a comparison. The first five add up to the exchanges. */
export interface CompareCounts {
  readonly exchanges: number;
  readonly equal: number;
  readonly different: number;
  readonly muted: number;
  readonly notComparable: number;
  readonly notMade: number;
  /** The exchanges whose difference vanished when both servers were asked again. They are part of the others. */
  readonly races: number;
  /** The exchanges in which the old server sent what was requested. They are part of the others. */
  readonly served: number;
  /** How often it sent something else, such as a status. */
  readonly notServed: Readonly<Record<string, number>>;
  readonly notComparableBecause: Readonly<Record<string, number>>;
  readonly notMadeBecause: Readonly<Record<string, number>>;
  readonly equivalences: Readonly<Record<string, number>>;
  /** How many exchanges had which verdicts of the contract, as `old → new`. */
  readonly verdicts: Readonly<Record<string, number>>;
  /** How many responses violated the contract only on the new server, by operation. */
  readonly newViolations: Readonly<Record<string, number>>;
}

/** One difference that is listed, with the requests in which it was found. */
export interface FoundDifference {
  readonly entry: LedgerEntry;
  /** The structure of the first request in which it was found. */
  readonly target: string;
  /** The descriptions of both values in that request. */
  readonly pair: string;
  readonly roles: readonly string[];
  /** How often the old response violated the contract at the place and the new one did not. */
  readonly repairs: number;
  /** True if it was a repair each time. */
  readonly isRepair: boolean;
  readonly isLeak: boolean;
}

/** Counts exchanges and collects distinct differences. Its size does not depend on the number of exchanges. */
export interface Tally {
  take(result: PairResult, isRace: boolean): void;
  takeLate(late: LateResult): void;
  notComparable(operation: string | undefined, because: string): void;
  notMade(because: NotMade, count?: number): void;
  counts(): CompareCounts;
  differences(): readonly FoundDifference[];
  /** Returns what was found in the form of a ledger, for reports. */
  snapshot(): LedgerSnapshot;
  /** Returns everything as plain data, from which a later run continues. */
  save(): TallyState;
}

/** The content of a tally as plain data. */
export interface TallyState {
  readonly counts: CompareCounts;
  readonly traffic: readonly (readonly [operation: string, requests: number, different: number])[];
  readonly found: readonly FoundDifference[];
  readonly dropped: number;
}

/** The maximum number of distinct differences. */
const MAX_DISTINCT = 5_000;
const MAX_ROLES = 20;

interface Entry {
  entry: LedgerEntry;
  readonly target: string;
  readonly pair: string;
  readonly roles: Set<string>;
  repairs: number;
}

/** What a tally needs. `structureOf` returns a target without anything that a caller has chosen. */
interface TallyParts {
  readonly clock: Clock;
  readonly kindOf: KindOf;
  readonly release: string;
  readonly structureOf: (target: string) => string;
  /** Records each exchange in a ledger, too. Its callers are the callers of the comparison. */
  readonly record?: ((trace: Trace) => void) | undefined;
}

/** Creates a tally, from what an earlier run has saved. */
export function createTally(parts: TallyParts, saved?: TallyState): Tally {
  const { clock, kindOf, release, structureOf, record } = parts;
  const main = {
    exchanges: 0,
    equal: 0,
    different: 0,
    muted: 0,
    notComparable: 0,
    notMade: 0,
    races: 0,
    served: 0,
    ...pick(saved?.counts),
  };
  const reasons = {
    notServed: countsOf(saved?.counts.notServed),
    notComparable: countsOf(saved?.counts.notComparableBecause),
    notMade: countsOf(saved?.counts.notMadeBecause),
    equivalences: countsOf(saved?.counts.equivalences),
    verdicts: countsOf(saved?.counts.verdicts),
    newViolations: countsOf(saved?.counts.newViolations),
  };
  const traffic = new Map(saved?.traffic.map(([name, requests, different]) => [name, { requests, different }]));
  const found = new Map<string, Entry>(
    saved?.found.map(({ entry, target, pair, roles, repairs }) => [
      entry.fingerprint,
      { entry, target, pair, roles: new Set(roles), repairs },
    ]),
  );
  let dropped = saved?.dropped ?? 0;
  /** The outcomes of exchanges that a later difference can change. */
  const corrected = new WeakSet<LateExchange>();

  const trafficOf = (operation: string | undefined) => {
    const known = traffic.get(operation ?? '') ?? { requests: 0, different: 0 };
    traffic.set(operation ?? '', known);
    return known;
  };
  /** Returns an exchange in the form in which ledgers take requests. */
  const traceOf = (
    { operation, status, role }: Pick<Scope, 'operation' | 'status' | 'role'>,
    differences: readonly Difference[],
    number: number,
  ): Trace => {
    const violations = differences.map(toViolation);
    const trace = createTrace({
      requestId: `compare-${number}`,
      traceparent: traceContext({}).traceparent,
      method: 'GET',
      startedAt: clock(),
    });
    trace.operation = operation;
    trace.caller = role;
    trace.upstream = { status: statusInRecords(status), shape: 'compared', seconds: 0, attempts: 1 };
    trace.responses = { ...toVerdict('report', violations), verdict: violations.length > 0 ? 'violations' : 'valid' };
    trace.violations.push(...violations);
    return trace;
  };
  const add = (difference: Difference, target: string): void => {
    const { place, isRepair } = difference;
    const { operation, role } = place.scope;
    const status = statusInRecords(place.scope.status);
    const violation = toViolation(difference);
    const kind = kindOf(operation, status, violation);
    const now = clock();
    const known = found.get(kind.fingerprint);
    if (known === undefined) {
      if (found.size >= MAX_DISTINCT) return void (dropped += 1);
      const sample = { requestId: `compare-${main.exchanges}`, seenAt: now, found: violation.found };
      const entry: LedgerEntry = {
        ...ruleOf(violation),
        message: violation.message,
        fingerprint: kind.fingerprint,
        operation,
        status,
        at: kind.at,
        suggestion: undefined,
        count: 1,
        firstSeenAt: now,
        lastSeenAt: now,
        callers: 1,
        releases: { [release]: 1 },
        samples: [sample],
      };
      found.set(kind.fingerprint, {
        entry,
        target: structureOf(target),
        pair: violation.found ?? '',
        roles: new Set([role]),
        repairs: Number(isRepair),
      });
      return;
    }
    if (known.roles.size < MAX_ROLES) known.roles.add(role);
    if (isRepair) known.repairs += 1;
    const count = known.entry.count + 1;
    known.entry = { ...known.entry, count, lastSeenAt: now, callers: known.roles.size, releases: { [release]: count } };
  };
  const listed = (): FoundDifference[] =>
    [...found.values()].map(({ entry, target, pair, roles, repairs }) => ({
      entry,
      target,
      pair,
      repairs,
      roles: [...roles],
      isRepair: repairs === entry.count,
      isLeak: entry.keyword === LEAK,
    }));
  const trafficRows = (): OperationTraffic[] =>
    [...traffic].map(([operation, { requests, different }]) => ({
      operation: operation === '' ? undefined : operation,
      release,
      requests,
      checks: { responses: { passed: requests - different, reported: different, refused: 0 } },
    }));
  const counts = (): CompareCounts => ({
    ...main,
    notServed: Object.fromEntries(reasons.notServed),
    notComparableBecause: Object.fromEntries(reasons.notComparable),
    notMadeBecause: Object.fromEntries(reasons.notMade),
    equivalences: Object.fromEntries(reasons.equivalences),
    verdicts: Object.fromEntries(reasons.verdicts),
    newViolations: Object.fromEntries(reasons.newViolations),
  });
  return {
    take(result, isRace) {
      const { pair, outcome, differences, equivalences, verdicts } = result;
      main.exchanges += 1;
      main[outcome] += 1;
      if (isRace) main.races += 1;
      if (result.isServed) main.served += 1;
      else increase(reasons.notServed, pair.old.status < 300 ? 'no JSON' : `status ${pair.old.status}`);
      const known = trafficOf(pair.operation?.id);
      known.requests += 1;
      if (outcome === 'different') known.different += 1;
      for (const [name, count] of equivalences) increase(reasons.equivalences, name, count);
      increase(reasons.verdicts, `${verdicts.old} → ${verdicts.new}`);
      if (verdicts.old !== 'invalid' && verdicts.new === 'invalid')
        increase(reasons.newViolations, pair.operation?.id ?? '(undocumented)');
      const counted = differences.filter(({ mutedBy }) => mutedBy === undefined);
      for (const difference of counted) add(difference, pair.target);
      const scope = { operation: pair.operation?.id, status: pair.old.status, role: pair.role };
      record?.(traceOf(scope, counted, main.exchanges));
    },
    takeLate({ difference, exchange }) {
      if (difference.mutedBy !== undefined) return;
      add(difference, exchange?.target ?? '');
      record?.(traceOf(difference.place.scope, [difference], main.exchanges));
      difference.place.different += 1;
      if (exchange === undefined || exchange.outcome === 'different' || corrected.has(exchange)) return;
      corrected.add(exchange);
      main[exchange.outcome] -= 1;
      main.different += 1;
      trafficOf(exchange.operation).different += 1;
    },
    notComparable(operation, because) {
      main.exchanges += 1;
      main.notComparable += 1;
      trafficOf(operation);
      increase(reasons.notComparable, because);
    },
    notMade(because, count = 1) {
      main.exchanges += count;
      main.notMade += count;
      increase(reasons.notMade, because, count);
    },
    counts,
    differences: listed,
    snapshot: () => ({
      takenAt: clock(),
      since: undefined,
      releases: [release],
      entries: listed().map(({ entry }) => entry),
      traffic: trafficRows(),
      statistics: [],
      dropped,
    }),
    save: () => ({
      counts: counts(),
      traffic: [...traffic].map(([name, { requests, different }]) => [name, requests, different]),
      found: listed(),
      dropped,
    }),
  };
}

/** A report would take a status of 500 or more for an outage, which is not compared at all. */
const statusInRecords = (status: number) => (status >= 500 ? undefined : status);

function pick(counts: CompareCounts | undefined): Partial<Record<Main, number>> {
  if (counts === undefined) return {};
  const { exchanges, equal, different, muted, notComparable, notMade, races, served } = counts;
  return { exchanges, equal, different, muted, notComparable, notMade, races, served };
}

type Main = 'exchanges' | 'equal' | 'different' | 'muted' | 'notComparable' | 'notMade' | 'races' | 'served';

const countsOf = (saved: Readonly<Record<string, number>> | undefined) => new Map(Object.entries(saved ?? {}));

function increase(counts: Map<string, number>, name: string, by = 1): void {
  counts.set(name, (counts.get(name) ?? 0) + by);
}
