import type { Settings } from '../config/settings.ts';
import type { Operation } from '../model/operation.ts';

/** Operations that a switch of the configuration takes away, with the key that does: those that need an issue tracker without one (rules, 3). */
export function switchedOff(
  { issueTracker }: Settings,
  operations: readonly Pick<Operation, 'id' | 'needsFeature'>[],
): ReadonlyMap<string, string> {
  const without = operations.filter((one) => one.needsFeature === 'issue-tracker' && !issueTracker.enabled);
  return new Map(without.map(({ id }) => [id, 'issueTracker.enabled']));
}
