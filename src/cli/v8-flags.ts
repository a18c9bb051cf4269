import { setFlagsFromString } from 'node:v8';

/**
 * Replaces the V8 flags that `bin/portico.mjs` sets for startup with those for serving requests:
 *
 * - V8 may again enlarge its heap's young generation when the load requires it.
 * - V8 collects all garbage when the old generation, or the memory used by buffers outside the heap, has doubled.
 *
 * By default, V8 adapts the limit of the old generation. After requests for many distinct pages, it lets evicted pages
 * occupy several times their size; at other times, it collects garbage more often than necessary. A lower limit would
 * save more memory but make cache misses 25% slower.
 *
 * Buffers, such as response bodies, have their own limit by default. With 200 kB responses, this limit is reached about
 * every 100 requests, although nearly all of their buffers are unused by then and can be freed without a full
 * collection.
 */
export function useFlagsForServing(): void {
  setFlagsFromString('--semi-space-growth-factor=2');
  limitGarbage(100);
}

/**
 * Makes V8 collect all garbage when memory has grown by a half. A comparison otherwise keeps more garbage the longer it
 * takes: its responses are large, and little of them is needed once they are compared.
 */
export const useFlagsForComparing = (): void => limitGarbage(50);

/** Limits the old generation, and the buffers outside the heap, to this many percent more than what is in use. */
function limitGarbage(percent: number): void {
  setFlagsFromString(`--heap-growing-percent=${percent}`);
  // Older versions of Node do not support all of these flags and would print errors.
  if (Number(process.versions.node.split('.')[0]) < 26) return;
  setFlagsFromString('--external-memory-accounted-in-global-limit');
  setFlagsFromString(`--external-memory-max-growing-factor=${1 + percent / 100}`);
}
