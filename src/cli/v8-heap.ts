import { setFlagsFromString } from 'node:v8';

/**
 * Prevents V8 from enlarging the young generation of its heap until letYoungGenerationGrow() is called. While many
 * objects survive collections, V8 keeps doubling this part of the heap, up to 32 MB, and then takes minutes to shrink
 * it again. Nearly all objects created at startup survive, but few of those created for a request do. Call this
 * function before other modules are imported.
 */
export function limitYoungGeneration(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}

/** Allows V8 to enlarge the young generation again when load requires it. */
export function letYoungGenerationGrow(): void {
  setFlagsFromString('--semi-space-growth-factor=2');
}

/**
 * Makes V8 collect garbage when the old generation has doubled in size. By default, V8 adapts this limit: after many
 * distinct pages, it lets evicted pages occupy several times their size, and at other times it collects more often than
 * needed. A lower limit would save more memory but make cache misses a quarter slower.
 */
export function limitHeapGrowth(): void {
  setFlagsFromString('--heap-growing-percent=100');
}
