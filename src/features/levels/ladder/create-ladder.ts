import { isDeepStrictEqual } from 'node:util';
import { type Clock, HOUR_MS } from '../../../lib/clock.ts';
import type { IsAccepted } from '../../../engine/model/acceptance.ts';
import type { CheckName, Checks } from '../../../engine/model/checks.ts';
import type { LedgerReader, LedgerSnapshot } from '../../../engine/model/ledger-entry.ts';
import type { Trace } from '../../../engine/model/trace.ts';
import { checkedResponse, createRefusalWatch, createResponseWindows, type RefusalAlert } from './traffic-watch.ts';
import type { LadderFile } from './ladder-file.ts';
import type { LadderOptions, PromotionOptions } from './ladder-options.ts';
import { type ConfiguredLevels, countsOf, effectiveChecks, type LadderRow, ladderRows } from './ladder-rows.ts';
import {
  type LadderState,
  type LadderStep,
  liftStep,
  type OperationLevels,
  PROMOTABLE_CHECKS,
  startingState,
  stepOf,
} from './ladder-step.ts';

/** Determines each operation's effective levels while the gateway is running, and records why levels were changed. */
export interface Ladder {
  /** Returns the effective levels of an operation. */
  checksFor(operation: string): Checks;
  levels(): readonly OperationLevels[];
  state(): LadderState;
  /** Returns the rows of the table printed by `portico ladder`, based on the traffic in a snapshot. */
  rows(snapshot: LedgerSnapshot): readonly LadderRow[];
  /**
   * Undoes the step for an operation's check. Returns false if there is no such step, or if `meant` is given and
   * describes a different step.
   */
  lift(operation: string, check: CheckName, meant?: Pick<LadderStep, 'move' | 'at'>): boolean;
  /** Evaluates a finished request. The `responses` check of its operation may be demoted immediately as a result. */
  record(trace: Trace): void;
  /**
   * If promotion is enabled, promotes the checks whose results in the ledger justify it. `commit` is called first, so
   * that it can store the new state where other gateways can see it. If it returns false, nothing is promoted.
   */
  promote(reader: LedgerReader, commit?: (next: LadderState) => Promise<boolean>): Promise<void>;
  /** Replaces the state with one that other gateways have changed. The state must belong to the current contract. */
  adopt(next: LadderState): void;
  /** Calls `listener` with an operation's id whenever the operation's levels change. */
  onChange(listener: (operation: string) => void): void;
  /**
   * Applies a new configuration. Existing steps remain in effect unless the contract has changed. Listeners are not
   * called.
   */
  configure(setup: LadderSetup): void;
}

/** The ladder's events, which are logged and counted. */
export interface LadderEvents {
  readonly demoted: (step: LadderStep) => void;
  readonly promoted: (step: LadderStep) => void;
  readonly lifted: (step: LadderStep) => void;
  readonly alerted: (alert: RefusalAlert) => void;
}

/** The configuration of a ladder. */
export interface LadderSetup {
  readonly options: LadderOptions;
  /** The configured levels of each operation. */
  readonly operations: readonly ConfiguredLevels[];
  /** True in transparent mode, in which no checks are promoted. */
  readonly transparent: boolean;
  /** The version of the contract. */
  readonly contract: string;
  readonly isAccepted: IsAccepted;
}

/** The dependencies of a ladder. */
export interface LadderParts extends Omit<LadderSetup, 'contract'> {
  readonly state: LadderState;
  readonly file: Pick<LadderFile, 'write'>;
  readonly events: LadderEvents;
  readonly clock: Clock;
}

/** Creates the ladder from its stored state. */
export function createLadder(parts: LadderParts): Ladder {
  const { file, events, clock } = parts;
  const listeners: ((operation: string) => void)[] = [];
  let { options, operations, transparent, isAccepted, state } = parts;
  let windows = createResponseWindows(options.demote, idsOf(operations));
  let refusals = createRefusalWatch(options.demote, idsOf(operations));
  let effective = new Map<string, Checks>();

  const updateLevels = (operation: string) => {
    const configured = operations.find((one) => one.operation === operation);
    if (configured !== undefined) effective.set(operation, effectiveChecks(configured, state.steps, !transparent));
  };
  const apply = (steps: readonly LadderStep[], operation: string) => {
    state = { ...state, steps };
    updateLevels(operation);
    file.write(state);
    for (const listener of listeners) listener(operation);
  };
  const others = (step: Pick<LadderStep, 'operation' | 'check'>) =>
    state.steps.filter(({ operation, check }) => operation !== step.operation || check !== step.check);
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
  idsOf(operations).forEach(updateLevels);

  return {
    checksFor,
    levels,
    state: () => state,
    rows: (snapshot) => ladderRows(levels(), snapshot, state, options.promote.minAnswers, isAccepted),
    lift(operation, check, meant) {
      const step = stepOf(state.steps, operation, check);
      if (step === undefined) return false;
      if (meant !== undefined && (step.move !== meant.move || step.at !== meant.at)) return false;
      apply(liftStep(state.steps, step, clock()), operation);
      events.lifted(step);
      return true;
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
      const step = { operation, check: 'responses', move: 'demoted', at: now, ...evidence } as const;
      apply([...others(step), step], operation);
      events.demoted(step);
    },
    async promote(reader, commit = () => Promise.resolve(true)) {
      if (!options.promote.enabled || transparent) return;
      const since = promotionPeriodStart(options.promote, clock());
      if (state.since > since) return;
      const snapshot = await reader.snapshot({ since });
      const due = promotionsDue(levels(), snapshot, state, options.promote, isAccepted);
      if (due.length === 0 || !(await commit({ ...state, steps: [...state.steps, ...due] }))) return;
      for (const step of due) {
        apply([...others(step), step], step.operation);
        events.promoted(step);
      }
    },
    adopt(next) {
      const before = state.steps;
      state = next;
      for (const operation of idsOf(operations)) {
        const of = (steps: readonly LadderStep[]) => steps.filter((step) => step.operation === operation);
        if (isDeepStrictEqual(of(before), of(next.steps))) continue;
        updateLevels(operation);
        for (const listener of listeners) listener(operation);
      }
      file.write(state);
    },
    onChange: (listener) => void listeners.push(listener),
    configure(setup) {
      // The existing counts remain valid, unless they belong to another contract or to windows of a different length.
      const isComparable =
        setup.contract === state.contract &&
        isDeepStrictEqual(setup.options.demote, options.demote) &&
        isDeepStrictEqual(idsOf(setup.operations), idsOf(operations));
      ({ options, operations, transparent, isAccepted } = setup);
      if (!isComparable) {
        windows = createResponseWindows(options.demote, idsOf(operations));
        refusals = createRefusalWatch(options.demote, idsOf(operations));
      }
      if (setup.contract !== state.contract) {
        state = startingState(undefined, setup.contract, clock());
        file.write(state);
      }
      effective = new Map();
      idsOf(operations).forEach(updateLevels);
    },
  };
}

const idsOf = (operations: readonly ConfiguredLevels[]) => operations.map(({ operation }) => operation);

/** Returns the start of the period on which promotions are based, in epoch milliseconds. */
function promotionPeriodStart({ windowHours }: PromotionOptions, now: number): number {
  return now - windowHours * HOUR_MS;
}

/**
 * Returns the promotions that a snapshot justifies. A check at the `report` level is promoted if it has enough results
 * and would not have refused any requests. The contract must not have changed during the window, because results for an
 * earlier contract prove nothing. Two kinds of levels are never changed: those configured for a single operation, and
 * those that the ladder has already changed.
 */
export function promotionsDue(
  levels: readonly OperationLevels[],
  snapshot: LedgerSnapshot,
  state: LadderState,
  options: PromotionOptions,
  isAccepted: IsAccepted,
): readonly LadderStep[] {
  const { takenAt } = snapshot;
  if (state.since > promotionPeriodStart(options, takenAt)) return [];
  const checks = PROMOTABLE_CHECKS.filter((check) => options.checks.includes(check));
  return levels.flatMap(({ operation, effective, explicit }) =>
    checks.flatMap((check) => {
      if (effective[check] !== 'report' || explicit.includes(check)) return [];
      if (stepOf(state.steps, operation, check) !== undefined) return [];
      const { passed, reported, refused } = countsOf(snapshot, operation, check, isAccepted);
      const judged = passed + reported + refused;
      if (judged < options.minAnswers || reported + refused > 0) return [];
      const windowSeconds = options.windowHours * 3600;
      return [{ operation, check, move: 'promoted' as const, at: takenAt, judged, failed: 0, windowSeconds }];
    }),
  );
}
