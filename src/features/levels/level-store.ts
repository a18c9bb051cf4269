import type { Clock } from '../../lib/clock.ts';
import {
  changedOperations,
  type ContractUse,
  inOrder,
  isOfLadder,
  isOverride,
  type LadderEntry,
  type LevelEntry,
  type LevelsState,
  type OverrideEntry,
} from './level-entry.ts';

/** All levels that differ from the configuration, whoever has decided it. */
export interface LevelStore {
  state(): LevelsState;
  /** Returns the version of the contract in use, and since when it is used. */
  contract(): ContractUse;
  /** Returns the ladder's decisions under the contract in use, about one operation or all. */
  decisions(operation?: string): readonly LadderEntry[];
  /** Returns the overrides, about one operation or all, whether or not their end has passed. */
  overrides(operation?: string): readonly OverrideEntry[];
  /**
   * Replaces an entry with another one. `removed` is undefined if the entry is new, and `added` if there is none any
   * more. `recorded` resolves once the change has an entry in the audit trail, or to false if that failed.
   */
  replace(removed: LevelEntry | undefined, added: LevelEntry | undefined, recorded?: Promise<boolean>): void;
  /** Replaces the state after other gateways have changed it. */
  adopt(next: LevelsState): void;
  /** Puts another version of the contract into use. Decisions under other versions do not apply. */
  useContract(version: string): void;
  /** Calls `listener` with the id of an operation whenever its entries change. */
  onChange(listener: (operation: string) => void): void;
}

interface LevelStoreParts {
  readonly stored: LevelsState;
  readonly contract: string;
  /** True if gateways share the state. Some of them may use another version of the contract during a deployment. */
  readonly isShared: boolean;
  readonly clock: Clock;
  /** Stores the state, in the background. */
  readonly write: (state: LevelsState, recorded?: Promise<boolean>) => void;
}

/** The state before anything has been stored. */
export const NO_LEVELS: LevelsState = { contracts: [], entries: [] };

/** Creates the store from what was stored earlier. Nothing is written until something changes. */
export function createLevelStore({ stored, contract: first, isShared, clock, write }: LevelStoreParts): LevelStore {
  const listeners: ((operation: string) => void)[] = [];
  let contract = first;
  let state = withContract(stored, contract, clock(), isShared);
  const of = <Entry extends LevelEntry>(kind: (entry: LevelEntry) => entry is Entry, operation: string | undefined) =>
    state.entries.filter(kind).filter((entry) => operation === undefined || entry.operation === operation);
  return {
    state: () => state,
    contract: () => state.contracts.find((one) => one.contract === contract) ?? { contract, since: clock() },
    decisions: (operation) => of(isOfLadder, operation).filter((entry) => entry.contract === contract),
    overrides: (operation) => of(isOverride, operation),
    replace(removed, added, recorded) {
      const others = state.entries.filter((entry) => entry !== removed);
      state = { ...state, entries: added === undefined ? others : inOrder([...others, added]) };
      write(state, recorded);
      const changed = added ?? removed;
      if (changed !== undefined) for (const listener of listeners) listener(changed.operation);
    },
    adopt(next) {
      const before = state.entries;
      state = withContract(next, contract, clock(), isShared);
      write(state);
      for (const operation of changedOperations(before, state.entries))
        for (const listener of listeners) listener(operation);
    },
    useContract(version) {
      if (version === contract) return;
      contract = version;
      state = withContract(state, contract, clock(), isShared);
      write(state);
    },
    onChange: (listener) => void listeners.push(listener),
  };
}

/** The number of versions of the contract whose decisions gateways share. */
const SHARED_CONTRACTS = 10;

/**
 * Returns the state with which a version of the contract is used. The ladder's decisions apply only to the version under
 * which they were made, so that a corrected contract takes effect immediately. Those of other versions are kept only for
 * gateways that still use them.
 */
function withContract(state: LevelsState, contract: string, now: number, isShared: boolean): LevelsState {
  const own = state.contracts.find((one) => one.contract === contract) ?? { contract, since: now };
  const others = state.contracts.filter((one) => one.contract !== contract);
  if (state.contracts.includes(own) && (isShared || others.length === 0)) return state;
  const latest = isShared ? others.toSorted((a, b) => b.since - a.since).slice(0, SHARED_CONTRACTS - 1) : [];
  const kept = new Set([own, ...latest].map((one) => one.contract));
  return {
    contracts: [...others.filter((one) => kept.has(one.contract)), own],
    entries: state.entries.filter((entry) => !isOfLadder(entry) || kept.has(entry.contract)),
  };
}
