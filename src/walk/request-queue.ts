import type { WalkRequest } from './walk-request.ts';

/** Requests that are still to be sent, each target once. */
export interface RequestQueue {
  add(request: WalkRequest): void;
  /** The next one: of the lowest rank, and in that the first added; undefined when none is left. */
  next(): WalkRequest | undefined;
  /** How many are left. */
  size(): number;
}

/** Creates an empty queue. */
export function createRequestQueue(): RequestQueue {
  const waiting: WalkRequest[] = [];
  const known = new Set<string>();
  return {
    add: (request) => {
      if (known.has(request.target)) return;
      known.add(request.target);
      const at = waiting.findIndex(({ rank }) => rank > request.rank);
      waiting.splice(at < 0 ? waiting.length : at, 0, request);
    },
    next: () => waiting.shift(),
    size: () => waiting.length,
  };
}
