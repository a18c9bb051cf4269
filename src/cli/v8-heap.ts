import { setFlagsFromString } from 'node:v8';

/**
 * Stops V8 from enlarging the young generation until letYoungGenerationGrow() is called. V8 doubles it, up to 32 MB,
 * while many objects survive, and does not shrink it for minutes. Nearly all objects created at startup survive, but
 * few objects created for a request do. Call this function before importing other modules, because the young generation
 * does not shrink.
 */
export function limitYoungGeneration(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}

/** Lets V8 enlarge the young generation again as the load requires. */
export function letYoungGenerationGrow(): void {
  setFlagsFromString('--semi-space-growth-factor=2');
}
