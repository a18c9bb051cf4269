import type { Settings } from '../../engine/config/settings.ts';
import type { Contract } from '../../engine/contract/load-contract.ts';
import { CHECK_NAMES } from '../../engine/model/checks.ts';
import type { LadderSetup } from './ladder.ts';
import type { LevelsOptions } from './options.ts';

/** Returns the parts of the configuration that the ladder uses. */
export function setupOf(
  { promote, demote }: LevelsOptions,
  settings: Settings,
  { operations, version }: Pick<Contract, 'operations' | 'version'>,
): LadderSetup {
  return {
    options: { promote, demote },
    operations: operations.map(({ id }) => {
      const own = settings.operations[id]?.checks ?? {};
      const explicit = CHECK_NAMES.filter((check) => own[check] !== undefined);
      return { operation: id, checks: settings.checksFor(id), translation: settings.translationFor(id), explicit };
    }),
    transparent: settings.mode.transparent,
    contract: version,
  };
}
