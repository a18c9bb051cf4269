import { configureGlobal, readConfigureGlobal } from 'fast-check';
import { beforeEach, expect } from 'vitest';

/** True for `PORTICO_FUZZ=long npm test` and for `npm run prove`, which test more than an ordinary run does. */
export const isLongRun = process.env['PORTICO_FUZZ'] === 'long';

/**
 * Returns the number of runs for a property test that drives whole gateways. `PORTICO_FUZZ=long npm test` and `npm run
 * prove` try ten times as many values as usual.
 */
export const propertyRuns = (usual: number): number => (isLongRun ? 10 * usual : usual);

/**
 * Makes every property test in the current file try the same values in each run, so that a run never fails by chance.
 * Each test has its own seed. Long runs try new values each time.
 */
export function seedPropertyTests(): void {
  if (isLongRun) return;
  beforeEach(() => {
    let seed = 0;
    for (const letter of expect.getState().currentTestName ?? '')
      seed = (Math.imul(seed, 31) + (letter.codePointAt(0) ?? 0)) | 0;
    configureGlobal({ ...readConfigureGlobal(), seed });
  });
}
