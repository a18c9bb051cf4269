import * as fs from 'node:fs';
import { join } from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// Tests share parsed contracts and compiled packages with each other and with earlier runs, as starts of Portico do.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules', '.cache', 'portico-test');

// Older versions lack functions of the sources and of this file, and their errors would not name the reason.
const { engines } = JSON.parse(fs.readFileSync(join(import.meta.dirname, 'package.json'), 'utf8')) as {
  engines: { node: string };
};
const [needed = ''] = /[\d.]+/.exec(engines.node) ?? [];
if (process.versions.node.localeCompare(needed, 'en', { numeric: true }) < 0)
  throw new Error(
    `Node ${process.versions.node} is too old for the tests, which need ${needed}. Use npm test or npx vitest, which run the Node of node_modules.`,
  );

/** Starts the longest files first, so that no worker is left with one of them at the end. */
class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => Number(isSlow(other)) - Number(isSlow(one)));
  }
}

const SLOW =
  /examples\/pipelines|deploy\/prometheus-rules|security\/planted-secrets|gateway\/(?:alerts|no-drift|drift)|cli\/portico|test\/browser\//;
const isSlow = ({ moduleId }: TestSpecification) => SLOW.test(moduleId);

const INCLUDE = ['test/**/*.test.ts', 'bench/test/**/*.test.ts'];

/** The files that test the whole gateway, its commands, its console or the benchmark. */
const WHOLE = [
  'test/{browser,cases,cli,deploy,examples,gateway,rules,security,walk}/**/*.test.ts',
  'bench/test/**/*.test.ts',
];

/**
 * The files of modules that measure the heap of their process, where other files would leave objects, or replace its timers: undici
 * has one timer for the whole process, and one that is started while timers are fake never fires again.
 */
const ALONE = fs
  .globSync(INCLUDE, { cwd: import.meta.dirname, exclude: WHOLE })
  .filter((file) =>
    /held-memory|queryObjects|useFakeTimers/.test(fs.readFileSync(join(import.meta.dirname, file), 'utf8')),
  );

export default defineConfig({
  test: {
    // Every test owns its servers and ports, so files may run side by side. CI has two cores; a third worker uses them
    // while others wait for timeouts and for browsers.
    maxWorkers: 3,
    // A worker runs many files and loads every module once. test/builders/clean-up.ts ends what a file has started.
    isolate: false,
    projects: [
      {
        extends: true,
        test: { name: 'unit', include: INCLUDE, exclude: [...configDefaults.exclude, ...WHOLE, ...ALONE] },
      },
      { extends: true, test: { name: 'whole', include: WHOLE } },
      { extends: true, test: { name: 'alone', include: ALONE, isolate: true } },
    ],
    restoreMocks: true,
    // Node loads the sources itself, as Portico does: it removes the types faster than Vite transforms a module, and its
    // compile cache stores the result. This has no module mocks, which these tests do without anyway.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    setupFiles: ['test/builders/register-clean-up.ts'],
    sequence: { sequencer: SlowFirst },
    testTimeout: 20_000,
    hookTimeout: 60_000,
    // `npm run coverage`: an overview in the terminal, and every line in coverage/index.html.
    coverage: { include: ['src/**/*.ts'], reporter: ['text-summary', 'html'] },
    // What is polled comes from other processes and sockets; on a busy machine a second is not enough.
    expect: { poll: { timeout: 10_000 } },
  },
});
