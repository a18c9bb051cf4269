import type { Settings } from '../config/settings.ts';
import type { Operation } from '../model/operation.ts';
import { MISSING_ACCOUNT, MISSING_OWNERSHIP } from '../permissions/decide.ts';
import { termsOf } from '../permissions/vocabulary.ts';

/** Everything that a denied caller can be told to lack: names of the contract and the configuration, never of a request. */
export function missableTerms(
  { undocumented }: Pick<Settings, 'undocumented'>,
  operations: readonly Pick<Operation, 'requires'>[],
): string[] {
  const required = operations.flatMap(({ requires }) => (requires === undefined ? [] : termsOf(requires)));
  const allowed = undocumented.allow.flatMap(({ permission }) => permission ?? []);
  const names = [...required.map(({ name }) => name), ...allowed];
  return [...new Set([...names.sort(), MISSING_OWNERSHIP, MISSING_ACCOUNT])];
}
