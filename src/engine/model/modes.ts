import type { Checks, ErrorStyle } from './checks.ts';

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

/** The settings of all presets (docs/rules.md §1). */
export const MODES: Readonly<Record<ModeName, Mode>> = {
  observe: {
    name: 'observe',
    checks: {
      authentication: 'report',
      requests: 'report',
      responses: 'report',
      permissions: 'report',
      pageBounds: 'report',
      undocumented: 'report',
    },
    errors: 'legacy',
    cache: false,
    transparent: true,
  },
  staging: {
    name: 'staging',
    checks: {
      authentication: 'enforce',
      requests: 'enforce',
      responses: 'report',
      permissions: 'enforce',
      pageBounds: 'enforce',
      undocumented: 'report',
    },
    errors: 'normalized',
    cache: true,
    transparent: false,
  },
  strict: {
    name: 'strict',
    checks: {
      authentication: 'enforce',
      requests: 'enforce',
      responses: 'report',
      permissions: 'enforce',
      pageBounds: 'enforce',
      undocumented: 'enforce',
    },
    errors: 'normalized',
    cache: true,
    transparent: false,
  },
};
