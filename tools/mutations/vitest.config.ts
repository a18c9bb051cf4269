import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { chosenSource, testPatterns } from './guarded.ts';

/** Runs the fastest test files first, because the first failure ends the run of a mutant. */
class FastFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toReversed();
  }
}

/**
 * Vitest's configuration for Stryker. Unlike in `npm test`, vitest loads the sources, so that it transforms each of them
 * once and not once for each mutant.
 */
export default defineConfig({
  test: {
    include: [...testPatterns(chosenSource())],
    isolate: false,
    restoreMocks: true,
    setupFiles: ['test/builders/register-clean-up.ts'],
    // Stryker's setup file switches the mutant on. It must have run before another one loads the sources.
    sequence: { setupFiles: 'list', sequencer: FastFirst },
    // A mutant can make a test hang, which then ends only with this timeout. The tests themselves take less than a second.
    testTimeout: 6_000,
    expect: { poll: { interval: 5, timeout: 5_000 } },
  },
});
