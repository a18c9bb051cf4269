import type { Settings } from '../config/settings.ts';
import type { Operation } from '../model/operation.ts';

/**
 * Returns the operations that the configuration switches off, with the key: those that need a missing issue tracker
 * (rules, 3).
 */
export function switchedOff(
  { issueTracker }: Settings,
  operations: readonly Pick<Operation, 'id' | 'needsFeature'>[],
): ReadonlyMap<string, string> {
  const without = operations.filter((one) => one.needsFeature === 'issue-tracker' && !issueTracker.enabled);
  return new Map(without.map(({ id }) => [id, 'issueTracker.enabled']));
}
