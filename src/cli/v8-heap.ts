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
 * Sets when V8 collects all garbage.
 *
 * V8 waits until the old generation has doubled in size. By default, it adapts this limit: after many distinct pages, it
 * lets evicted pages occupy several times their size, and at other times it collects more often than needed. A lower
 * limit would save more memory but make cache misses a quarter slower.
 *
 * Buffers outside the heap, such as response bodies, count toward the same limit. By default, they have a limit of their
 * own, which responses of 200 kB reach every 100 requests, although nearly all of those buffers are free by then.
 */
export function limitHeapGrowth(): void {
  setFlagsFromString('--heap-growing-percent=100');
  setFlagsFromString('--external-memory-accounted-in-global-limit');
}
