import type { PathMatch } from '../../contract/paths.ts';
import type { Arrival } from '../../model/arrival.ts';
import type { CheckLevel } from '../../model/checks.ts';
import type { Operation } from '../../model/operation.ts';

/** An entry of `undocumented.allow`: what passes although the contract does not know it. */
export interface AllowEntry {
  readonly method: string;
  /** A path with `{name}` for one segment, or `/**` at its end for everything below. */
  readonly path: string;
  /** A permission that the caller needs for it. */
  readonly permission?: string | undefined;
}

/** That a request is let past the contract. */
export interface PassingVerdict {
  readonly pass: true;
  readonly permission: string | undefined;
  readonly reported: boolean;
  /** The contract has the path, with other methods; said where it is reported. */
  readonly documentedPath?: boolean;
  /** True for a method of an inferred operation that is switched off. */
  readonly switchedOff?: boolean;
}

/** What happens to a request that no operation answers. */
export type UndocumentedVerdict =
  | PassingVerdict
  | {
      readonly pass: false;
      readonly code: 'not_in_contract' | 'method_not_allowed';
      readonly allow: readonly string[];
      readonly switchedOff?: boolean;
    };

/** Decides what happens to a request that no operation answers; `byMethod` is what the contract knows of the path, if anything. */
export type UndocumentedPolicy = (
  method: string,
  path: string,
  byMethod: ReadonlyMap<string, Operation> | undefined,
) => UndocumentedVerdict;

/** The base path that passthrough is limited to outside of `observe` (rules, 11). */
const PASSTHROUGH_BASE = '/services/v2/';

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
  return (method, path, byMethod) => {
    const documentedPath = byMethod !== undefined;
    if (transparent) return { pass: true, permission: undefined, reported: level !== 'off', documentedPath };
    const entry = path.startsWith(PASSTHROUGH_BASE)
      ? allowed.find((one) => methodMatches(one.method, method) && one.matches(path))
      : undefined;
    if (entry !== undefined) return { pass: true, permission: entry.permission, reported: false };
    if (level !== 'enforce' && SAFE.has(method) && path.startsWith(PASSTHROUGH_BASE))
      return { pass: true, permission: undefined, reported: level === 'report', documentedPath };
    if (byMethod === undefined) return { pass: false, code: 'not_in_contract', allow: [] };
    return { pass: false, code: 'method_not_allowed', allow: allowedMethods(byMethod) };
  };
}

/** Returns what the policy says about a request that matches no operation; `match` is what the contract knows of its path. */
export function undocumentedVerdict(
  policy: UndocumentedPolicy,
  { method, path }: Pick<Arrival, 'method' | 'path'>,
  match: PathMatch | undefined,
): UndocumentedVerdict {
  // The methods of operations that are switched off make the path an undocumented one for them (rules, 10).
  const switchedOff = match?.undocumentedMethods.has(method) === true;
  const verdict = policy(method, path, switchedOff ? undefined : match?.byMethod);
  return switchedOff ? { ...verdict, switchedOff } : verdict;
}

function methodMatches(wanted: string, method: string): boolean {
  return wanted === '*' || wanted === method || (wanted === 'GET' && method === 'HEAD');
}

function allowedMethods(byMethod: ReadonlyMap<string, Operation>): string[] {
  return [...byMethod.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
}

/** Says whether a raw path matches a pattern. */
type PathPattern = (path: string) => boolean;

/**
 * Compiles a path with `{name}` or `*` for one non-empty segment (or part of one) and `/**` at the end for everything
 * below; everything else is matched exactly, case included.
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
