/** What is known of a check without running it. Everything that lists checks reads it from here. */
interface Check {
  /** The level of the check in each preset (docs/rules.md §1). */
  readonly levels: { readonly observe: CheckLevel; readonly staging: CheckLevel; readonly strict: CheckLevel };
  /** What the check examines, as the description of its configuration key. */
  readonly examines: string;
  /** The subject of the check in a few words, as pages show it. */
  readonly words: string;
  /** What the verdict is about: who sends the request, what it asks for, or what the upstream responds. */
  readonly judges: 'caller' | 'request' | 'response';
  /** True if each operation has a level of its own. */
  readonly ofOperation: boolean;
  /** True if the check decides who may see or change data. Operators cannot override its level. */
  readonly protectsData: boolean;
  /** True if the ladder may promote the check. A check that only a person may enforce is not promoted. */
  readonly promotable: boolean;
  /** What to change if the check is wrong about a message: the end of the sentence "To fix it, change …". */
  readonly toFix: string;
}

/** The checks, in the order in which they are applied to a request. */
export const CHECKS = {
  authentication: {
    levels: { observe: 'report', staging: 'enforce', strict: 'enforce' },
    examines: 'Credentials.',
    words: 'sign-in',
    judges: 'caller',
    ofOperation: true,
    protectsData: true,
    promotable: false,
    toFix: 'the client.',
  },
  requests: {
    levels: { observe: 'report', staging: 'enforce', strict: 'enforce' },
    examines: 'Parameters and request bodies.',
    words: 'request',
    judges: 'request',
    ofOperation: true,
    protectsData: false,
    promotable: true,
    toFix: 'the client, or the contract with an overlay.',
  },
  responses: {
    levels: { observe: 'report', staging: 'report', strict: 'report' },
    examines: "The upstream's responses.",
    words: 'response of the server',
    judges: 'response',
    ofOperation: true,
    protectsData: false,
    promotable: true,
    toFix: 'the server. portico learn proposes overlays from sampled responses.',
  },
  permissions: {
    levels: { observe: 'report', staging: 'enforce', strict: 'enforce' },
    examines: "The caller's permissions.",
    words: 'permissions',
    judges: 'request',
    ofOperation: true,
    protectsData: true,
    promotable: true,
    toFix:
      'the roles file (roles.file) if the decision is wrong; portico explain METHOD TARGET --as NAME shows the decision.',
  },
  pageBounds: {
    levels: { observe: 'report', staging: 'enforce', strict: 'enforce' },
    examines: '`page` and `pageSize`.',
    words: 'page and page size',
    judges: 'request',
    ofOperation: true,
    protectsData: false,
    promotable: true,
    toFix: 'the client or the limits: pageBounds, or pageBounds of one operation.',
  },
  undocumented: {
    levels: { observe: 'report', staging: 'report', strict: 'enforce' },
    examines:
      'Paths and methods that are not in the contract. Outside `observe` mode, requests with methods other than GET, HEAD and OPTIONS always need an entry in `undocumented.allow`, whatever the level.',
    words: 'undocumented paths',
    judges: 'request',
    ofOperation: false,
    protectsData: true,
    promotable: false,
    toFix: 'the client, or describe the path in an overlay.',
  },
} as const satisfies Readonly<Record<string, Check>>;

/** The name of one of the checks. */
export type CheckName = keyof typeof CHECKS;

/** The names of the checks for which a property has a value. */
export type ChecksWith<Key extends keyof Check, Value> = {
  readonly [Name in CheckName]: (typeof CHECKS)[Name][Key] extends Value ? Name : never;
}[CheckName];

/** The names of the checks, in the order in which they are applied to a request. */
export const CHECK_NAMES = Object.keys(CHECKS) as readonly CheckName[];

/** The checks with a level of their own for each operation. */
export const OPERATION_CHECKS: readonly CheckName[] = CHECK_NAMES.filter((name) => CHECKS[name].ofOperation);

/** The checks that can refuse a request before it is sent to the upstream. */
export const REQUEST_CHECKS: readonly CheckName[] = CHECK_NAMES.filter((name) => CHECKS[name].judges !== 'response');

/**
 * Everything that has a verdict on a request: the checks, and `errors`, the translation of upstream errors. An error
 * whose status the translation changes has the verdict `refused`, or `reported` while errors are only foretold.
 */
export const JUDGED_NAMES: readonly JudgedName[] = [...CHECK_NAMES, 'errors'];

/** The name of something that has a verdict. */
export type JudgedName = CheckName | 'errors';

/**
 * The level of a check. It determines whether the check does nothing, reports violations, or refuses messages with
 * violations.
 */
export type CheckLevel = 'off' | 'report' | 'enforce';

/** The levels, from the most lenient to the strictest. */
export const CHECK_LEVELS = ['off', 'report', 'enforce'] as const satisfies readonly CheckLevel[];

/** The level of each check, either globally or for one operation. */
export type Checks = Readonly<Record<CheckName, CheckLevel>>;

/** Returns a value for each check. */
export function forEachCheck<Value>(valueOf: (name: CheckName) => Value): Readonly<Record<CheckName, Value>> {
  return Object.fromEntries(CHECK_NAMES.map((name) => [name, valueOf(name)])) as Record<CheckName, Value>;
}

/**
 * The style of error responses: `legacy` preserves the upstream's body, and `normalized` replaces it with Portico's
 * own.
 */
export type ErrorStyle = 'legacy' | 'normalized';
