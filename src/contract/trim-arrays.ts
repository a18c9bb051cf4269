/** No schema of the contract looks deeper than this. */
const MAX_DEPTH = 12;

/** A copy in which every array has at most `max` elements, so that telling all that is wrong with it has a bounded cost. */
export function trimArrays(value: unknown, max: number, depth = 0): unknown {
  if (typeof value !== 'object' || value === null || depth >= MAX_DEPTH) return value;
  if (Array.isArray(value)) return value.slice(0, max).map((element) => trimArrays(element, max, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, trimArrays(child, max, depth + 1)]));
}
