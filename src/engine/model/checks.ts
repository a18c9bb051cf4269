/** The names of the six checks, in the order in which they are applied to a request (docs/rules.md §1). */
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

/**
 * Everything that has a verdict on a request: the six checks, and `errors`, the translation of upstream errors. An
 * error whose status the translation changes has the verdict `refused`, or `reported` while errors are only foretold.
 */
export const JUDGED_NAMES = [...CHECK_NAMES, 'errors'] as const;

/** The name of something that has a verdict. */
export type JudgedName = (typeof JUDGED_NAMES)[number];

/**
 * The level of a check. It determines whether the check does nothing, reports violations, or refuses messages with
 * violations.
 */
export type CheckLevel = 'off' | 'report' | 'enforce';

/** The level of each check, either globally or for one operation. */
export type Checks = Readonly<Record<CheckName, CheckLevel>>;

/**
 * The style of error responses: `legacy` preserves the upstream's body, and `normalized` replaces it with Portico's
 * own.
 */
export type ErrorStyle = 'legacy' | 'normalized';
