import { setFlagsFromString } from 'node:v8';

/**
 * Prevents V8 from enlarging the young generation of its heap until letYoungGenerationGrow() is called. While many
 * objects survive collections, V8 keeps doubling this part of the heap, up to 32 MB, and it takes minutes to shrink it
 * again. Nearly all objects created at startup survive, but few of those created for a request do. Call this before
 * other modules are imported.
 */
export function limitYoungGeneration(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}

/** Allows V8 to enlarge the young generation again when load requires it. */
export function letYoungGenerationGrow(): void {
  setFlagsFromString('--semi-space-growth-factor=2');
}

/**
 * Makes V8 collect garbage when the old generation has grown by 30 %. By default, V8 lets it grow up to fourfold, so
 * evicted pages would stay in memory for a long time. After 100,000 distinct pages, the process needs half as much
 * memory beyond its idle size, and a request that stores a page takes a few percent more CPU time.
 */
export function limitHeapGrowth(): void {
  setFlagsFromString('--heap-growing-percent=30');
}
