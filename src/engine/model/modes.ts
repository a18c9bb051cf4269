import { CHECKS, type Checks, type ErrorStyle, forEachCheck } from './checks.ts';

/** The names of the three presets, as used in `mode:` and `PORTICO_MODE`. */
export const MODE_NAMES = ['observe', 'staging', 'strict'] as const;

/** The name of a preset. */
export type ModeName = (typeof MODE_NAMES)[number];

/** The settings of a preset. Other settings can override them. */
export interface Mode {
  readonly name: ModeName;
  readonly checks: Checks;
  readonly errors: ErrorStyle;
  readonly cache: boolean;
  /**
   * True if the raw target, the body and the end-to-end headers are forwarded unchanged in both requests and responses.
   */
  readonly transparent: boolean;
}

/** Returns the levels of all checks in a preset. */
const levelsIn = (mode: ModeName): Checks => forEachCheck((check) => CHECKS[check].levels[mode]);

/** The settings of all presets (docs/rules.md §1). */
export const MODES: Readonly<Record<ModeName, Mode>> = {
  observe: { name: 'observe', checks: levelsIn('observe'), errors: 'legacy', cache: false, transparent: true },
  staging: { name: 'staging', checks: levelsIn('staging'), errors: 'normalized', cache: true, transparent: false },
  strict: { name: 'strict', checks: levelsIn('strict'), errors: 'normalized', cache: true, transparent: false },
};
