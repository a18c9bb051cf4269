import { isDeepStrictEqual } from 'node:util';
import { type Clock, HOUR_MS } from '../../lib/clock.ts';
import type { IsAccepted } from '../../engine/model/acceptance.ts';
import type { CheckLevel, CheckName, Checks } from '../../engine/model/checks.ts';
import type { LedgerReader, LedgerSnapshot } from '../../engine/model/ledger-entry.ts';
import type { Trace } from '../../engine/model/trace.ts';
import { type ConfiguredChecks, ladderChecks } from './in-force.ts';
import { countsOf, decisionOf, type LadderRow, ladderRows, type OperationLevels } from './ladder-rows.ts';
import { type LadderEntry, PROMOTABLE_CHECKS } from './level-entry.ts';
import type { LevelStore } from './level-store.ts';
import type { DemotionOptions, PromotionOptions } from './options.ts';
import { checkedResponse, createRefusalWatch, createResponseWindows, type RefusalAlert } from './traffic-watch.ts';

/** Watches traffic, and enters levels in the store: demotions, and promotions if they are on. */
export interface Ladder {
  /** Returns the levels of an operation with the ladder's decisions. Overrides are not included. */
  checksFor(operation: string): Checks;
  levels(): readonly OperationLevels[];
  /** Returns the rows of the table printed by `portico ladder`, based on the traffic in a snapshot. */
  rows(snapshot: LedgerSnapshot): readonly LadderRow[];
  /**
   * Undoes the decision about an operation's check. Returns it, or undefined if there is none, or if `meant` is given
   * and is a different one.
   */
  lift(operation: string, check: CheckName, meant?: Pick<LadderEntry, 'move' | 'since'>): LadderEntry | undefined;
  /** Evaluates a finished request. The `responses` check of its operation may be demoted immediately as a result. */
  record(trace: Trace): void;
  /**
   * If promotion is enabled, promotes the checks whose results in the ledger justify it. `commit` is called first, so
   * that it can store the decisions where other gateways can see them. If it returns false, nothing is promoted.
   */
  promote(reader: LedgerReader, commit?: (due: readonly LadderEntry[]) => Promise<boolean>): Promise<void>;
  /** Applies a new configuration. Decisions remain in effect unless the contract has changed. */
  configure(setup: LadderSetup): void;
}

/** The ladder's events, which are logged and counted. */
export interface LadderEvents {
  readonly demoted: (entry: LadderEntry) => void;
  readonly promoted: (entry: LadderEntry) => void;
  readonly lifted: (entry: LadderEntry) => void;
  readonly alerted: (alert: RefusalAlert) => void;
}

/** The configured levels of a single operation. */
export interface ConfiguredLevels extends ConfiguredChecks {
  readonly operation: string;
  /** What the translation of the operation's errors does. */
  readonly translation: CheckLevel;
}

/** The configuration of a ladder. */
export interface LadderSetup {
  readonly options: { readonly promote: PromotionOptions; readonly demote: DemotionOptions };
  /** The configured levels of each operation. */
  readonly operations: readonly ConfiguredLevels[];
  /** True in transparent mode, in which no checks are promoted. */
  readonly transparent: boolean;
  /** The version of the contract. */
  readonly contract: string;
}

/** The dependencies of a ladder. */
export interface LadderParts extends Omit<LadderSetup, 'contract'> {
  readonly store: LevelStore;
  readonly isAccepted: IsAccepted;
  readonly events: LadderEvents;
  readonly clock: Clock;
}

/** Creates the ladder. */
export function createLadder(parts: LadderParts): Ladder {
  const { store, events, clock, isAccepted } = parts;
  let { options, operations, transparent } = parts;
  let windows = createResponseWindows(options.demote, idsOf(operations));
  let refusals = createRefusalWatch(options.demote, idsOf(operations));
  const effective = new Map<string, Checks>();
  const updateLevels = (operation: string) => {
    const configured = operations.find((one) => one.operation === operation);
    if (configured !== undefined)
      effective.set(operation, ladderChecks(configured, store.decisions(operation), !transparent));
  };
  store.onChange(updateLevels);
  const checksFor = (operation: string): Checks => {
    const checks = effective.get(operation);
    if (checks === undefined) throw new Error(`${operation} is not an operation of the ladder`);
    return checks;
  };
  const levels = () =>
    operations.map(({ operation, checks, translation, explicit }) => ({
      operation,
      translation,
      configured: checks,
      effective: checksFor(operation),
      explicit,
    }));
  const enter = (entry: LadderEntry) =>
    store.replace(decisionOf(store.decisions(), entry.operation, entry.check), entry);
  idsOf(operations).forEach(updateLevels);

  return {
    checksFor,
    levels,
    rows: (snapshot) => ladderRows(levels(), snapshot, store.decisions(), options.promote.minAnswers, isAccepted),
    lift(operation, check, meant) {
      const entry = decisionOf(store.decisions(), operation, check);
      if (entry === undefined) return undefined;
      if (meant !== undefined && (entry.move !== meant.move || entry.since !== meant.since)) return undefined;
      store.replace(entry, lifted(entry, clock()));
      events.lifted(entry);
      return entry;
    },
    record(trace) {
      const now = clock();
      const alert = refusals.take(trace, now);
      if (alert !== undefined) events.alerted(alert);
      const { operation } = trace;
      const response = options.demote.enabled && operation !== undefined ? checkedResponse(trace) : undefined;
      if (operation === undefined || response === undefined) return;
      // A response checked before the level was lowered says nothing about the current level.
      if (effective.get(operation)?.responses !== 'enforce') return;
      const evidence = windows.take(operation, response, now);
      if (evidence === undefined) return;
      const entry = decision({ operation, check: 'responses', move: 'demoted', since: now, ...evidence });
      enter(entry);
      events.demoted(entry);
    },
    async promote(reader, commit = () => Promise.resolve(true)) {
      if (!options.promote.enabled || transparent) return;
      const since = promotionPeriodStart(options.promote, clock());
      if (store.contract().since > since) return;
      const snapshot = await reader.snapshot({ since });
      const due = promotionsDue(levels(), snapshot, store, options.promote, isAccepted).map(decision);
      if (due.length === 0 || !(await commit(due))) return;
      for (const entry of due) {
        enter(entry);
        events.promoted(entry);
      }
    },
    configure(setup) {
      // The existing counts remain valid, unless they belong to another contract or to windows of a different length.
      const isComparable =
        setup.contract === store.contract().contract &&
        isDeepStrictEqual(setup.options.demote, options.demote) &&
        isDeepStrictEqual(idsOf(setup.operations), idsOf(operations));
      ({ options, operations, transparent } = setup);
      if (!isComparable) {
        windows = createResponseWindows(options.demote, idsOf(operations));
        refusals = createRefusalWatch(options.demote, idsOf(operations));
      }
      store.useContract(setup.contract);
      effective.clear();
      idsOf(operations).forEach(updateLevels);
    },
  };

  function decision(made: Omit<LadderEntry, 'source' | 'kind' | 'contract'>): LadderEntry {
    return { source: 'ladder', kind: 'level', ...made, contract: store.contract().contract };
  }
}

const idsOf = (operations: readonly ConfiguredLevels[]) => operations.map(({ operation }) => operation);

/**
 * Returns what remains of a decision after it is lifted. A promotion leaves a `lifted` mark, so that the same results do
 * not lead to another promotion. A demotion or a mark leaves nothing.
 */
export function lifted(entry: LadderEntry, now: number): LadderEntry | undefined {
  return entry.move === 'promoted' ? { ...entry, move: 'lifted', since: now } : undefined;
}

/** Returns the start of the period on which promotions are based, in epoch milliseconds. */
function promotionPeriodStart({ windowHours }: PromotionOptions, now: number): number {
  return now - windowHours * HOUR_MS;
}

/** A promotion that the results in the ledger justify. */
type DuePromotion = Omit<LadderEntry, 'source' | 'kind' | 'contract'>;

/**
 * Returns the promotions that a snapshot justifies. A check at the `report` level is promoted if it has enough results
 * and would not have refused any requests. The contract must not have changed during the window, because results for an
 * earlier contract prove nothing. Two kinds of levels are never changed: those configured for a single operation, and
 * those that the ladder has already changed.
 */
export function promotionsDue(
  levels: readonly OperationLevels[],
  snapshot: LedgerSnapshot,
  store: Pick<LevelStore, 'contract' | 'decisions'>,
  options: PromotionOptions,
  isAccepted: IsAccepted,
): readonly DuePromotion[] {
  const { takenAt } = snapshot;
  if (store.contract().since > promotionPeriodStart(options, takenAt)) return [];
  const checks = PROMOTABLE_CHECKS.filter((check) => options.checks.includes(check));
  const decisions = store.decisions();
  return levels.flatMap(({ operation, effective, explicit }) =>
    checks.flatMap((check) => {
      if (effective[check] !== 'report' || explicit.includes(check)) return [];
      if (decisionOf(decisions, operation, check) !== undefined) return [];
      const { passed, reported, refused } = countsOf(snapshot, operation, check, isAccepted);
      const judged = passed + reported + refused;
      if (judged < options.minAnswers || reported + refused > 0) return [];
      const windowSeconds = options.windowHours * 3600;
      return [{ operation, check, move: 'promoted' as const, since: takenAt, judged, failed: 0, windowSeconds }];
    }),
  );
}
