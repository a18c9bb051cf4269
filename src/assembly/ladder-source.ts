import type { Settings } from '../config/settings.ts';
import type { ConsoleSources } from '../console/console-sources.ts';
import { CHECK_NAMES } from '../model/checks.ts';
import type { Operation } from '../model/operation.ts';

/** The configured levels, as the ladder shows them. */
export function ladderSource(
  settings: Settings,
  operations: readonly Pick<Operation, 'id'>[],
): ConsoleSources['ladder'] {
  return {
    windowHours: settings.ladder.promote.windowHours,
    rows: () =>
      operations.flatMap(({ id }) =>
        CHECK_NAMES.map((check) => {
          const level = settings.checksFor(id)[check];
          return {
            operation: id,
            check,
            configured: level,
            effective: level,
            clean: 0,
            wouldHaveRefused: 0,
            next: '',
            demoted: undefined,
          };
        }),
      ),
    lift: undefined,
  };
}
