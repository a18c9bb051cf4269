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
 * Makes V8 collect garbage whenever the old generation has doubled in size. By default, V8 adapts this limit. After
 * many distinct pages, evicted pages would occupy several times their size before they are collected. At other times,
 * V8 would collect more often than needed. A lower limit would save more memory but make cache misses a quarter slower.
 */
export function limitHeapGrowth(): void {
  setFlagsFromString('--heap-growing-percent=100');
}
