import { escapePointer } from '../lib/json-pointer.ts';

/** As much of an error as tells how far a value is from an alternative. */
interface BranchError {
  readonly keyword: string;
  readonly at: string;
  readonly limit: unknown;
}

/**
 * The errors of the alternative that a value was meant for: of its type, and with more of the fields that it must have than any
 * other. Undefined where that is not clear.
 */
export function meantBranch<E extends BranchError>(
  branches: readonly (readonly E[])[],
  at: string,
): readonly E[] | undefined {
  const scored = branches
    .map((errors) => ({ errors, distance: distanceOf(errors, at) }))
    .toSorted((a, b) => a.distance - b.distance);
  const [nearest, next] = scored;
  if (nearest === undefined || !Number.isFinite(nearest.distance)) return undefined;
  return nearest.distance === next?.distance ? undefined : nearest.errors;
}

/** How far a value as a whole is from an alternative: another type is another thing. */
function distanceOf(errors: readonly BranchError[], at: string): number {
  if (errors.some((error) => error.keyword === 'type' && error.at === at)) return Number.POSITIVE_INFINITY;
  return errors.filter(
    (error) => error.keyword === 'required' && error.at === `${at}/${escapePointer(String(error.limit))}`,
  ).length;
}
