import type { PathMatch } from '../../contract/paths.ts';
import type { Arrival } from '../../model/arrival.ts';
import type { Operation } from '../../model/operation.ts';
import { plainPath } from './path-matching.ts';

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
 * Returns the policy's verdict on a request that matches no operation. `match` is the contract path that matches the
 * request's path, if any. `matchPath` finds the contract path that matches a given path.
 */
export function undocumentedVerdict(
  policy: UndocumentedPolicy,
  { method, path }: Pick<Arrival, 'method' | 'path'>,
  match: PathMatch | undefined,
  matchPath: (path: string) => PathMatch | undefined,
): UndocumentedVerdict {
  // If the method belongs to a disabled operation, the path is treated as undocumented (docs/rules.md §10).
  const isDisabled = match?.undocumentedMethods.has(method) === true;
  const isAlias = match === undefined && isSpellingOfKnownPath(path, matchPath);
  const verdict = policy(method, path, isDisabled ? undefined : match?.byMethod, isAlias);
  return isDisabled ? { ...verdict, isDisabled } : verdict;
}

/** Returns whether a server could interpret this path as a path in the contract. Some servers ignore case. */
function isSpellingOfKnownPath(path: string, matchPath: (path: string) => PathMatch | undefined): boolean {
  const plain = plainPath(path);
  if (plain === undefined) return true;
  return [plain, plain.toLowerCase()].some((spelling) => spelling !== path && matchPath(spelling) !== undefined);
}
