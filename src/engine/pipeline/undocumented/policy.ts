import type { CheckLevel } from '../../model/checks.ts';
import type { Operation } from '../../model/operation.ts';
import { isSafe } from '../../model/safe-methods.ts';
import { compilePathPattern, type PathPattern, plainPath } from './path-matching.ts';
import type { UndocumentedPolicy } from './verdict.ts';

/** An entry in `undocumented.allow`: a path outside the contract that is forwarded with the given method. */
export interface AllowEntry {
  readonly method: string;
  /** A path pattern. `{name}` matches one segment, and a trailing `/**` matches everything below the path. */
  readonly path: string;
  /** The permission that the caller must have. */
  readonly permission?: string | undefined;
}

/**
 * Compiles the policy for undocumented paths. Paths outside the API's base path are forwarded only in `observe` mode
 * (docs/rules.md §11).
 */
export function compileUndocumentedPolicy(
  basePath: string,
  level: CheckLevel,
  transparent: boolean,
  entries: readonly AllowEntry[],
): UndocumentedPolicy {
  const allowed = entries.map((entry): AllowEntry & { matches: PathPattern; matchesPlain: PathPattern } => ({
    ...entry,
    matches: compilePathPattern(entry.path),
    matchesPlain: compilePathPattern(plainPath(entry.path) ?? entry.path),
  }));
  const find = (method: string, path: string) =>
    path.startsWith(basePath)
      ? allowed.find((one) => methodMatches(one.method, method) && one.matches(path))
      : undefined;
  /** Returns whether a server could read the path as one outside the base path, or as one of another entry. */
  const isOther = (method: string, path: string, entry: AllowEntry | undefined) => {
    const plain = plainPath(path);
    if (plain === undefined || (path.startsWith(basePath) && !`${plain}/`.startsWith(basePath))) return true;
    return !isSame(
      path.startsWith(basePath)
        ? allowed.find((one) => methodMatches(one.method, method) && one.matchesPlain(plain))
        : undefined,
      entry,
    );
  };
  return (method, path, byMethod, isAlias = false) => {
    const documentedPath = byMethod !== undefined;
    const entry = find(method, path);
    // Another spelling of a path must not bypass the checks for a documented path or the permission that an entry
    // requires. An entry with exactly this spelling is intentional, as is an entry with a final slash if the path also
    // has one.
    const evades = !transparent && entry?.path !== path && (isAlias || isOther(method, path, entry));
    if (evades) return { pass: false, code: 'not_in_contract', allow: [] };
    if (entry !== undefined) return { pass: true, permission: entry.permission, reported: false };
    if (transparent) return { pass: true, permission: undefined, reported: level !== 'off', documentedPath };
    if (level !== 'enforce' && isSafe(method) && path.startsWith(basePath))
      return { pass: true, permission: undefined, reported: level === 'report', documentedPath };
    if (byMethod === undefined) return { pass: false, code: 'not_in_contract', allow: [] };
    return { pass: false, code: 'method_not_allowed', allow: allowedMethods(byMethod) };
  };
}

/** Returns whether two entries require the same permission, or are both undefined. */
function isSame(one: AllowEntry | undefined, other: AllowEntry | undefined): boolean {
  return one === undefined || other === undefined ? one === other : one.permission === other.permission;
}

function methodMatches(wanted: string, method: string): boolean {
  return wanted === '*' || wanted === method || (wanted === 'GET' && method === 'HEAD');
}

/** Returns the methods that a documented path allows. */
export function allowedMethods(byMethod: ReadonlyMap<string, Operation>): string[] {
  return [...byMethod.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
}
