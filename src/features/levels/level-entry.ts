import { isDeepStrictEqual } from 'node:util';
import {
  type CheckLevel,
  type CheckName,
  CHECKS,
  type ChecksWith,
  OPERATION_CHECKS,
} from '../../engine/model/checks.ts';
import { mergeItems } from '../../engine/sharing/merge-items.ts';

/** The checks that can be promoted automatically. */
export const PROMOTABLE_CHECKS = OPERATION_CHECKS.filter(
  (check): check is ChecksWith<'promotable', true> => CHECKS[check].promotable,
);

/** The checks whose level an operator can change. */
export const OVERRIDABLE_CHECKS = OPERATION_CHECKS.filter((check) => !CHECKS[check].protectsData);

/** The kinds of overrides. */
export const OVERRIDE_KINDS = ['level', 'force-stale', 'disable'] as const;

/** The moves of the ladder. `lifted` leaves the level as configured, but prevents another promotion. */
export const MOVES = ['promoted', 'demoted', 'lifted'] as const;

/** The numbers that led to a move: the results, the failures and the length of the window. */
export interface Evidence {
  readonly judged: number;
  readonly failed: number;
  readonly windowSeconds: number;
}

/** A decision of the ladder about one check of an operation. */
export interface LadderEntry extends Evidence {
  readonly source: 'ladder';
  readonly operation: string;
  readonly kind: 'level';
  readonly check: CheckName;
  readonly move: (typeof MOVES)[number];
  /** When the decision was made, in epoch milliseconds. */
  readonly since: number;
  /** The version of the contract under which the decision was made. It applies only under this version. */
  readonly contract: string;
}

/** What an operator changes about an operation. */
export type OverrideChange =
  | {
      /** Sets the level of one check. */
      readonly kind: 'level';
      readonly check: CheckName;
      readonly level: CheckLevel;
    }
  | {
      /** Serves stored responses without contacting the upstream. */
      readonly kind: 'force-stale';
      /** How long a stored response may be served after becoming stale, in seconds. */
      readonly maxStaleSeconds: number;
    }
  /** Refuses every request for the operation. */
  | { readonly kind: 'disable' };

/** A temporary change to one operation that an operator has made. */
export type OverrideEntry = OverrideChange & {
  readonly source: 'operator';
  readonly operation: string;
  readonly reason: string;
  /** The name that the operator gave. Portico cannot verify it. */
  readonly by: string | undefined;
  /** The network address from which the admin side received the request. */
  readonly from: string | undefined;
  /** When the override was set, in epoch milliseconds. */
  readonly since: number;
  /** The end time, in epoch milliseconds. From this time on, the override has no effect. */
  readonly until: number;
};

/** A level, or another setting of an operation, that differs from the configuration, with who decided it and why. */
export type LevelEntry = LadderEntry | OverrideEntry;

/** A version of the contract, and when it was first used, in epoch milliseconds. */
export interface ContractUse {
  readonly contract: string;
  readonly since: number;
}

/** Everything that is stored about levels. */
export interface LevelsState {
  readonly contracts: readonly ContractUse[];
  readonly entries: readonly LevelEntry[];
}

/** Returns what an entry or a change is about: the name of a check, `force-stale` or `disable`. */
export function subjectOf(change: OverrideChange | LadderEntry): string {
  return change.kind === 'level' ? change.check : change.kind;
}

/** Identifies an entry. There are never two entries with the same key. */
export function keyOf(entry: LevelEntry): string {
  return entry.source === 'ladder'
    ? `ladder ${entry.contract} ${entry.operation} ${entry.check}`
    : `operator ${entry.operation} ${subjectOf(entry)}`;
}

/** Returns whether an entry is a decision of the ladder. */
export const isOfLadder = (entry: LevelEntry): entry is LadderEntry => entry.source === 'ladder';

/** Returns whether an entry is an operator's. */
export const isOverride = (entry: LevelEntry): entry is OverrideEntry => entry.source === 'operator';

/**
 * Merges this gateway's changes since `base` into the state that all gateways share. If both sides have changed an
 * operator's entry, the one that was set later applies, so that ending an override never ends one that has since been
 * set again. If both sides have a new decision of the ladder about the same check, a demotion takes precedence, because
 * it is safer.
 */
export function mergeLevels(base: LevelsState, mine: LevelsState, theirs: LevelsState): LevelsState {
  const lists = <Item>(of: (state: LevelsState) => readonly Item[]) => ({
    base: of(base),
    mine: of(mine),
    theirs: of(theirs),
  });
  const contracts = mergeItems(
    lists((state) => state.contracts),
    ({ contract }) => contract,
    (here, there) => here ?? there,
  );
  const firstUse = (contract: string) =>
    Math.min(
      ...[mine, theirs]
        .flatMap((state) => state.contracts)
        .flatMap((one) => (one.contract === contract ? one.since : [])),
    );
  return {
    contracts: contracts.map(({ contract }) => ({ contract, since: firstUse(contract) })),
    entries: inOrder(
      mergeItems(
        lists((state) => state.entries),
        keyOf,
        prefer,
      ),
    ),
  };
}

/**
 * Returns entries in the order in which they were made. All gateways use the same order, so that they never exchange
 * states that differ only in it.
 */
export function inOrder(entries: readonly LevelEntry[]): readonly LevelEntry[] {
  return entries.toSorted((a, b) => a.since - b.since || (keyOf(a) < keyOf(b) ? -1 : 1));
}

function prefer(here: LevelEntry | undefined, there: LevelEntry | undefined): LevelEntry | undefined {
  const known = here ?? there;
  if (known === undefined) return undefined;
  if (!isOfLadder(known)) return (here?.since ?? 0) > (there?.since ?? 0) ? here : there;
  const isDemotion = (entry: LevelEntry | undefined) =>
    entry !== undefined && isOfLadder(entry) && entry.move === 'demoted';
  return isDemotion(here) && !isDemotion(there) ? here : there;
}

/** Returns the operations whose entries differ. */
export function changedOperations(before: readonly LevelEntry[], after: readonly LevelEntry[]): readonly string[] {
  const of = (entries: readonly LevelEntry[], operation: string) =>
    entries.filter((one) => one.operation === operation);
  return [...new Set([...before, ...after].map(({ operation }) => operation))].filter(
    (operation) => !isDeepStrictEqual(of(before, operation), of(after, operation)),
  );
}
