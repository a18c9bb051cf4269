import { keysOf } from '../../lib/json-pointer.ts';
import type { LedgerEntry } from './ledger-entry.ts';

/** A violation with its state in the baseline. */
export interface Grouped {
  readonly entry: Omit<LedgerEntry, 'samples'>;
  readonly baselineState: string;
}

/** Several violations with the same cause, shown as one entry. */
export interface Cause<T> {
  /** The first violation, which stands for all of them. */
  readonly first: T;
  /** The other violations with the same cause. */
  readonly others: readonly T[];
  /** The number of occurrences of all of them. */
  readonly count: number;
}

/**
 * Groups violations that have the same cause: they violate the same statement of the contract in the same way, or the
 * same rule with the same name, whether in several operations or at several places of a message. The order of the
 * first violations is preserved.
 */
export function groupByCause<T>(items: readonly T[], findingOf: (item: T) => Grouped): readonly Cause<T>[] {
  return [...Map.groupBy(items, (item) => causeKey(findingOf(item))).values()].flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    const count = [first, ...others].reduce((sum, item) => sum + findingOf(item).entry.count, 0);
    return [{ first, others, count }];
  });
}

/** Returns the number of causes of violations. */
export const countCauses = (findings: readonly Grouped[]): number => groupByCause(findings, (one) => one).length;

function causeKey({ entry, baselineState }: Grouped): string {
  const { check, direction, category, keyword, schemaPath, at, status, candidate } = entry;
  // The variant of a resource without required fields contains the same statements.
  const statement = schemaPath.replace('.projected.', '.');
  // A path that the contract does not contain has no name in common with another one.
  const place = check === 'undocumented' ? at : (keysOf(at).findLast((name) => name !== '*') ?? at);
  const rule = statement === '' ? (status ?? '') : statement;
  return JSON.stringify([check, direction, category, keyword, rule, place, baselineState, candidate]);
}
