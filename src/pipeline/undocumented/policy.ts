import type { PathMatch } from '../../contract/paths.ts';
import type { Arrival } from '../../model/arrival.ts';
import type { CheckLevel } from '../../model/checks.ts';
import type { Operation } from '../../model/operation.ts';

/**
 * An entry in `undocumented.allow`: a path that is forwarded with the given methods even though it is not in the
 * contract.
 */
export interface AllowEntry {
  readonly method: string;
  /** A path pattern. `{name}` matches one segment, and a trailing `/**` matches everything below. */
  readonly path: string;
  /** The permission that the caller must have. */
  readonly permission?: string | undefined;
}

/** The verdict for a request that is forwarded even though it is not in the contract. */
export interface PassingVerdict {
  readonly pass: true;
  readonly permission: string | undefined;
  readonly reported: boolean;
  /** True if the contract contains the path but not this method. Used in reports. */
  readonly documentedPath?: boolean;
  /** True if the method belongs to an operation that was inferred and is disabled. */
  readonly isDisabled?: boolean;
}

/** The verdict for a request that matches no operation. */
export type UndocumentedVerdict =
  | PassingVerdict
  | {
      readonly pass: false;
      readonly code: 'not_in_contract' | 'method_not_allowed';
      readonly allow: readonly string[];
      readonly isDisabled?: boolean;
    };

/**
 * Decides what to do with a request that matches no operation. If the path is in the contract, `byMethod` contains its
 * operations. `isAlias` is true if the path is another spelling of a path in the contract.
 */
export type UndocumentedPolicy = (
  method: string,
  path: string,
  byMethod: ReadonlyMap<string, Operation> | undefined,
  isAlias?: boolean,
) => UndocumentedVerdict;

/**
 * The base path of passthrough requests. Only `observe` mode also forwards paths outside this base path (rules, 11).
 */
export const PASSTHROUGH_BASE = '/services/v2/';

const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Compiles the policy for undocumented paths. */
export function compileUndocumentedPolicy(
  level: CheckLevel,
  transparent: boolean,
  entries: readonly AllowEntry[],
): UndocumentedPolicy {
  const allowed = entries.map((entry): AllowEntry & { matches: PathPattern } => ({
    ...entry,
    matches: compilePathPattern(entry.path),
  }));
  const find = (method: string, path: string) =>
    path.startsWith(PASSTHROUGH_BASE)
      ? allowed.find((one) => methodMatches(one.method, method) && one.matches(path))
      : undefined;
  const findPlain = (method: string, path: string) => {
    const plain = plainPath(path);
    return find(method, plain) ?? (path.endsWith('/') ? find(method, `${plain}/`) : undefined);
  };
  return (method, path, byMethod, isAlias = false) => {
    const documentedPath = byMethod !== undefined;
    const entry = find(method, path);
    // Another spelling of a path must not bypass the checks for a documented path, or the permission that an entry
    // requires. An entry with exactly this spelling is intentional, as is an entry that ends with a slash if the path
    // also does.
    const evades = !transparent && entry?.path !== path && (isAlias || !isSame(findPlain(method, path), entry));
    if (evades) return { pass: false, code: 'not_in_contract', allow: [] };
    if (entry !== undefined) return { pass: true, permission: entry.permission, reported: false };
    if (transparent) return { pass: true, permission: undefined, reported: level !== 'off', documentedPath };
    if (level !== 'enforce' && SAFE.has(method) && path.startsWith(PASSTHROUGH_BASE))
      return { pass: true, permission: undefined, reported: level === 'report', documentedPath };
    if (byMethod === undefined) return { pass: false, code: 'not_in_contract', allow: [] };
    return { pass: false, code: 'method_not_allowed', allow: allowedMethods(byMethod) };
  };
}

/** Returns whether two entries require the same permission, or are both undefined. */
function isSame(one: AllowEntry | undefined, other: AllowEntry | undefined): boolean {
  return one === undefined || other === undefined ? one === other : one.permission === other.permission;
}

/**
 * Returns the policy's verdict on a request that matches no operation. `match` is the contract path that matches the
 * request's path, if any. `matchPath` finds the matching contract path of any other path.
 */
export function undocumentedVerdict(
  policy: UndocumentedPolicy,
  { method, path }: Pick<Arrival, 'method' | 'path'>,
  match: PathMatch | undefined,
  matchPath: (path: string) => PathMatch | undefined,
): UndocumentedVerdict {
  // If the method belongs to a disabled operation, the path is treated as undocumented (rules, 10).
  const isDisabled = match?.undocumentedMethods.has(method) === true;
  const isAlias = match === undefined && isSpellingOfKnownPath(path, matchPath);
  const verdict = policy(method, path, isDisabled ? undefined : match?.byMethod, isAlias);
  return isDisabled ? { ...verdict, isDisabled } : verdict;
}

/** Returns whether a server could interpret this path as a path in the contract. Some servers ignore case. */
function isSpellingOfKnownPath(path: string, matchPath: (path: string) => PathMatch | undefined): boolean {
  const plain = plainPath(path);
  return [plain, plain.toLowerCase()].some((spelling) => spelling !== path && matchPath(spelling) !== undefined);
}

const ENCODED_CHARACTER = /%(?:2[0-9a-e]|[3-6][0-9a-f]|7[0-9a-e])/gi;
const PATH_PARAMETER = /(?:;|%3b).*$/i;
const FINAL_DOTS_AND_SPACES = /[. ]+$/;

/**
 * Returns the simplest path that a server could consider equivalent to a path, so that rules for one path also apply to
 * its other spellings. Percent-encoded characters are decoded. These parts are removed: path parameters and empty
 * segments, which Tomcat ignores; a final slash, which some frameworks ignore; and dots and spaces at the end of a
 * segment, which IIS ignores.
 */
export function plainPath(path: string): string {
  const segments = path.split('/').map((segment) =>
    segment
      .replace(PATH_PARAMETER, '')
      .replaceAll(ENCODED_CHARACTER, (text) => String.fromCharCode(Number.parseInt(text.slice(1), 16)))
      .replace(FINAL_DOTS_AND_SPACES, ''),
  );
  return `/${segments.filter((segment) => segment !== '').join('/')}`;
}

function methodMatches(wanted: string, method: string): boolean {
  return wanted === '*' || wanted === method || (wanted === 'GET' && method === 'HEAD');
}

/** Returns the methods that a documented path allows. */
export function allowedMethods(byMethod: ReadonlyMap<string, Operation>): string[] {
  return [...byMethod.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
}

/** Returns whether a raw path matches a pattern. */
type PathPattern = (path: string) => boolean;

/**
 * Compiles a path pattern. `{name}` and `*` match one non-empty segment or part of one. A trailing `/**` matches
 * everything below. All other text must match exactly, including case.
 */
export function compilePathPattern(pattern: string): PathPattern {
  const deep = pattern.endsWith('/**');
  const body = deep ? pattern.slice(0, -3) : pattern;
  const source = body
    .split(/(\{\w+\}|\*)/)
    .map((piece) => (/^(?:\{\w+\}|\*)$/.test(piece) ? '[^/]+' : RegExp.escape(piece)))
    .join('');
  const expression = new RegExp(`^${source}${deep ? '/.+' : ''}$`);
  return (path) => expression.test(path);
}
