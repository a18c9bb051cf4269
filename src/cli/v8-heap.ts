import { setFlagsFromString } from 'node:v8';

/**
 * Prevents V8 from enlarging the young generation of its heap until {@link letYoungGenerationGrow} is called. As long
 * as many objects survive collections, V8 doubles the young generation repeatedly, up to 32 MB, and later takes minutes
 * to shrink it. Nearly all objects that are created at startup survive, but few objects that are created for a request
 * do. Call this function before other modules are imported.
 */
export function limitYoungGeneration(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}

/** Allows V8 to enlarge the young generation again when the load requires it. */
export function letYoungGenerationGrow(): void {
  setFlagsFromString('--semi-space-growth-factor=2');
}

/**
 * Makes V8 collect all garbage when the old generation, or the memory of buffers outside the heap, has doubled in size.
 *
 * By default, V8 adapts the limit of the old generation: after many distinct pages, it lets evicted pages occupy several
 * times their size, and at other times it collects more often than needed. A lower limit would save more memory but make
 * cache misses a quarter slower.
 *
 * Buffers, such as response bodies, have a limit of their own by default. Responses of 200 kB reach it about every 100
 * requests, although nearly all of their buffers are unused by then and can be freed without a full collection.
 */
export function limitHeapGrowth(): void {
  setFlagsFromString('--heap-growing-percent=100');
  // Older versions of Node do not know these flags and would print errors.
  if (Number(process.versions.node.split('.')[0]) < 26) return;
  setFlagsFromString('--external-memory-accounted-in-global-limit');
  setFlagsFromString('--external-memory-max-growing-factor=2');
}
