/** The six checks that Portico can make of every request, in the order in which a request meets them (rules, 1). */
export const CHECK_NAMES = [
  'authentication',
  'requests',
  'responses',
  'permissions',
  'pageBounds',
  'undocumented',
] as const;

/** The name of one of the six checks. */
export type CheckName = (typeof CHECK_NAMES)[number];

/** How far a check goes: not at all, counted and shown only, or refused. */
export type CheckLevel = 'off' | 'report' | 'enforce';

/** The level of each of the six checks, as they hold for one operation or globally. */
export type Checks = Readonly<Record<CheckName, CheckLevel>>;

/** How error answers look: the upstream's own or the one body of Portico. */
export type ErrorStyle = 'legacy' | 'normalized';

/** The three presets that `mode:` and `PORTICO_MODE` choose from. */
export const MODE_NAMES = ['observe', 'staging', 'strict'] as const;

/** The name of a preset. */
export type ModeName = (typeof MODE_NAMES)[number];

/** What a preset decides before anything is overridden. */
export interface Mode {
  readonly name: ModeName;
  readonly checks: Checks;
  readonly errors: ErrorStyle;
  readonly cache: boolean;
  /** Raw target, body and end-to-end headers in both directions; nothing is written, redacted or translated. */
  readonly transparent: boolean;
}

/** The table of presets (rules, 1). */
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
