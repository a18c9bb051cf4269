import { setFlagsFromString } from 'node:v8';

/**
 * Prevents V8 from enlarging the young generation until letYoungGenerationGrow() is called. V8 doubles this part of the
 * heap, up to 32 MB, while many objects survive a collection, and shrinks it only after minutes. Nearly all objects
 * created at startup survive, but few of the objects created for a request do. This function must be called before
 * other modules are imported.
 */
export function limitYoungGeneration(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}

/** Allows V8 to enlarge the young generation again, depending on the load. */
export function letYoungGenerationGrow(): void {
  setFlagsFromString('--semi-space-growth-factor=2');
}
