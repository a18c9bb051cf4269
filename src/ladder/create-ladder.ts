import { type Clock, HOUR_MS } from '../lib/clock.ts';
import type { CheckName, Checks } from '../model/checks.ts';
import type { LedgerReader, LedgerSnapshot } from '../model/ledger-snapshot.ts';
import type { Trace } from '../model/trace.ts';
import { createAnswerWindows, judgedAnswer } from './answer-windows.ts';
import type { LadderFile } from './ladder-file.ts';
import type { LadderOptions, PromotionOptions } from './ladder-options.ts';
import { countsOf, type LadderRow, ladderRows } from './ladder-rows.ts';
import {
  type LadderState,
  type LadderStep,
  liftStep,
  type OperationLevels,
  PROMOTABLE_CHECKS,
  stepOf,
} from './ladder-step.ts';
import { type ConfiguredLevels, effectiveChecks } from './moved-levels.ts';
import { createRefusalWatch, type RefusalAlert } from './refusal-watch.ts';

/** Decides the levels that hold for each operation while the gateway runs, and remembers why. */
export interface Ladder {
  /** The levels that hold for an operation now. */
  checksFor(operation: string): Checks;
  levels(): readonly OperationLevels[];
  state(): LadderState;
  /** The table of `portico ladder`, from the traffic of a snapshot. */
  rows(snapshot: LedgerSnapshot): readonly LadderRow[];
  /** Takes the step of a check back; false where there is none, or another one than was `meant`. */
  lift(operation: string, check: CheckName, meant?: Pick<LadderStep, 'move' | 'at'>): boolean;
  /** Looks at a finished request; may demote `responses` of its operation, at once. */
  record(trace: Trace): void;
  /** Promotes what the ledger's numbers justify, where that is switched on. */
  promote(reader: LedgerReader): Promise<void>;
  /** Calls `listener` with the operation whenever its levels have changed. */
  onChange(listener: (operation: string) => void): void;
}

/** What is told to people and counted. */
export interface LadderEvents {
  readonly demoted: (step: LadderStep) => void;
  readonly promoted: (step: LadderStep) => void;
  readonly lifted: (step: LadderStep) => void;
  readonly alerted: (alert: RefusalAlert) => void;
}

/** What a ladder is made of. */
export interface LadderParts {
  readonly options: LadderOptions;
  /** What the configuration says of each operation. */
  readonly operations: readonly ConfiguredLevels[];
  /** True where nothing may be enforced by itself: in a mode that changes nothing. */
  readonly transparent: boolean;
  readonly state: LadderState;
  readonly file: Pick<LadderFile, 'write'>;
  readonly events: LadderEvents;
  readonly clock: Clock;
}

/** Creates the ladder on what was kept of it. */
export function createLadder(parts: LadderParts): Ladder {
  const { options, operations, transparent, file, events, clock } = parts;
  const ids = operations.map(({ operation }) => operation);
  const windows = createAnswerWindows(options.demote, ids);
  const refusals = createRefusalWatch(options.demote, ids);
  const listeners: ((operation: string) => void)[] = [];
  const known = new Map(operations.map((configured) => [configured.operation, configured]));
  const effective = new Map<string, Checks>();
  let { state } = parts;

  const settle = (operation: string) => {
    const configured = known.get(operation);
    if (configured !== undefined) effective.set(operation, effectiveChecks(configured, state.steps, !transparent));
  };
  const take = (steps: readonly LadderStep[], operation: string) => {
    state = { ...state, steps };
    settle(operation);
    file.write(state);
    for (const listener of listeners) listener(operation);
  };
  const others = (step: Pick<LadderStep, 'operation' | 'check'>) =>
    state.steps.filter(({ operation, check }) => operation !== step.operation || check !== step.check);
  const checksFor = (operation: string): Checks => {
    const checks = effective.get(operation);
    if (checks === undefined) throw new Error(`${operation} is no operation of the ladder`);
    return checks;
  };
  const levels = () =>
    operations.map(({ operation, checks, explicit }) => ({
      operation,
      configured: checks,
      effective: checksFor(operation),
      explicit,
    }));
  ids.forEach(settle);

  return {
    checksFor,
    levels,
    state: () => state,
    rows: (snapshot) => ladderRows(levels(), snapshot, state, options.promote.minAnswers),
    lift(operation, check, meant) {
      const step = stepOf(state.steps, operation, check);
      if (step === undefined) return false;
      if (meant !== undefined && (step.move !== meant.move || step.at !== meant.at)) return false;
      take(liftStep(state.steps, step, clock()), operation);
      events.lifted(step);
      return true;
    },
    record(trace) {
      const now = clock();
      const alert = refusals.take(trace, now);
      if (alert !== undefined) events.alerted(alert);
      const { operation } = trace;
      const answer = options.demote.enabled && operation !== undefined ? judgedAnswer(trace) : undefined;
      if (operation === undefined || answer === undefined) return;
      // An answer that was judged before the level fell says nothing of the level that holds now.
      if (effective.get(operation)?.responses !== 'enforce') return;
      const evidence = windows.take(operation, answer, now);
      if (evidence === undefined) return;
      const step = { operation, check: 'responses', move: 'demoted', at: now, ...evidence } as const;
      take([...others(step), step], operation);
      events.demoted(step);
    },
    async promote(reader) {
      if (!options.promote.enabled || transparent) return;
      const since = promotionPeriodStart(options.promote, clock());
      if (state.since > since) return;
      const snapshot = await reader.snapshot({ since });
      for (const step of promotionsDue(levels(), snapshot, state, options.promote)) {
        take([...others(step), step], step.operation);
        events.promoted(step);
      }
    },
    onChange: (listener) => void listeners.push(listener),
  };
}

/** The start of the period that promotions are decided over, in epoch milliseconds. */
export function promotionPeriodStart({ windowHours }: PromotionOptions, now: number): number {
  return now - windowHours * HOUR_MS;
}

/**
 * The promotions that the numbers of a snapshot justify: checks in report that judged enough and would have refused
 * nothing. None before the contract has been the same for the whole window, since what an earlier one let pass proves
 * nothing; none for a level that is written down for the operation, nor for a check that has moved before.
 */
export function promotionsDue(
  levels: readonly OperationLevels[],
  snapshot: LedgerSnapshot,
  state: LadderState,
  options: PromotionOptions,
): readonly LadderStep[] {
  const { takenAt } = snapshot;
  if (state.since > promotionPeriodStart(options, takenAt)) return [];
  const checks = PROMOTABLE_CHECKS.filter((check) => options.checks.includes(check));
  return levels.flatMap(({ operation, effective, explicit }) =>
    checks.flatMap((check) => {
      if (effective[check] !== 'report' || explicit.includes(check)) return [];
      if (stepOf(state.steps, operation, check) !== undefined) return [];
      const { passed, reported, refused } = countsOf(snapshot, operation, check);
      const judged = passed + reported + refused;
      if (judged < options.minAnswers || reported + refused > 0) return [];
      const windowSeconds = options.windowHours * 3600;
      return [{ operation, check, move: 'promoted' as const, at: takenAt, judged, failed: 0, windowSeconds }];
    }),
  );
}
