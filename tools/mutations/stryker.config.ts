import { chosenSource, sourceFiles } from './guarded.ts';

// The required score is that of all files.
const isPart = process.env['PORTICO_MUTATED_PART'] === 'true';
const chosen = chosenSource();
const { name, breakAt } = chosen;

/** Stryker's configuration for one of the guarded sources. `npm run mutations` runs all of them, one after another. */
export default {
  packageManager: 'npm',
  plugins: ['@stryker-mutator/vitest-runner'],
  testRunner: 'vitest',
  // The tests are chosen in vitest's configuration. With Stryker's own `testFiles`, version 10.1 switches mutants of
  // constants on only after their module was loaded, so they all survive.
  vitest: { configFile: 'tools/mutations/vitest.config.ts', related: false },
  mutate: sourceFiles(chosen),
  thresholds: { high: 90, low: breakAt, break: isPart ? null : breakAt },
  incremental: true,
  incrementalFile: `.stryker/${name}.json`,
  // Outside node_modules, where Node would not remove the types of the sources.
  tempDirName: '.stryker/sandbox',
  ignorePatterns: ['coverage', 'deploy', 'dist', 'docs', 'examples'],
  // The sources are not compiled, and Stryker cannot read a tsconfig.json with TypeScript 7.
  disableTypeChecks: false,
  tsconfigFile: 'none.json',
  // A mutant must not count as noticed only because the machine is busy.
  timeoutMS: 15_000,
  reporters: ['clear-text', 'progress-append-only', 'html'],
  clearTextReporter: { logTests: false, reportTests: false, allowEmojis: false },
  htmlReporter: { fileName: `.stryker/${name}.html` },
};
