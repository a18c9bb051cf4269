import * as fs from 'node:fs';
import { join } from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { limitCompileCache } from './test/builders/compile-cache.ts';

// Parsed contracts and compiled packages are cached across tests and test runs, as they are across runs of Portico.
const compileCache = join(import.meta.dirname, 'node_modules', '.cache', 'portico-test');
limitCompileCache(compileCache);
process.env['NODE_COMPILE_CACHE'] ??= compileCache;

// Older versions of Node lack functions that the sources and this file use, and would fail with unclear errors.
const { engines } = JSON.parse(fs.readFileSync(join(import.meta.dirname, 'package.json'), 'utf8')) as {
  engines: { node: string };
};
const [needed = ''] = /[\d.]+/.exec(engines.node) ?? [];
if (process.versions.node.localeCompare(needed, 'en', { numeric: true }) < 0)
  throw new Error(
    `Node ${process.versions.node} is too old for the tests, which need ${needed}. Use npm test or npx vitest, which run the Node of node_modules.`,
  );

/**
 * Starts the slowest files first, so that no worker is still running a slow file when the others have finished. Files
 * that mostly wait for a browser alternate with files that compute, so that both run at the same time. The other files
 * follow by project, because a worker runs the files of only one project.
 */
class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = (await super.sort(files)).toSorted((one, other) => rankOf(one) - rankOf(other));
    const slow = sorted.filter(({ moduleId }) => SLOW.test(moduleId));
    const browser = sorted.filter(({ moduleId }) => BROWSER.test(moduleId));
    const rest = sorted.filter(({ moduleId }) => !SLOW.test(moduleId) && !BROWSER.test(moduleId));
    const turns = Array.from({ length: Math.max(slow.length, browser.length) }, (_, at) => [slow[at], browser[at]]);
    return [...turns.flat().filter((one) => one !== undefined), ...rest];
  }
}

const BROWSER = /test\/browser\//;
const SLOW =
  /examples\/pipelines|deploy\/prometheus-rules|security\/(?:planted-secrets|hostile-json)|gateway\/(?:alerts|no-drift|drift|memo|audience)|cli\/portico|walk\/walk\.|test\/smoke|trust\/(?:load|event|raw|upstream|fuzz|fleet-run)|contract-tools/;

const PROJECTS = ['whole', 'alone', 'unit'];
const rankOf = ({ project }: TestSpecification) => PROJECTS.indexOf(project.name);

const INCLUDE = ['test/**/*.test.ts', 'bench/test/**/*.test.ts'];

/** The tests of the whole gateway, its commands, its console and the benchmark. */
const WHOLE = [
  'test/{browser,cases,cli,deploy,examples,gateway,rules,security,trust,walk}/**/*.test.ts',
  'bench/test/**/*.test.ts',
];

/**
 * The tests that need a process of their own. Some measure the heap, which would contain objects from other tests.
 * Others replace the timers: undici has one timer per process, and if it is started while timers are fake, it never
 * fires again. Another counts the open sockets, and another observes which schemas are compiled, because a process does
 * not compile the same schema twice.
 */
const ALONE = fs
  .globSync(INCLUDE, { cwd: import.meta.dirname, exclude: WHOLE })
  .filter((file) =>
    /held-memory|queryObjects|useFakeTimers/.test(fs.readFileSync(join(import.meta.dirname, file), 'utf8')),
  )
  .concat('test/gateway/compiled-at-start.test.ts', 'test/trust/raw-endurance.test.ts');

export default defineConfig({
  test: {
    // Every test starts its own servers on its own ports, so files can run in parallel. CI has two cores; two more
    // workers use them while the others wait for timeouts and browsers.
    maxWorkers: 4,
    // A worker runs many files but loads each module only once. After each file, test/builders/clean-up.ts stops
    // everything that the file started.
    isolate: false,
    projects: [
      {
        extends: true,
        test: { name: 'unit', include: INCLUDE, exclude: [...configDefaults.exclude, ...WHOLE, ...ALONE] },
      },
      { extends: true, test: { name: 'whole', include: WHOLE, exclude: [...configDefaults.exclude, ...ALONE] } },
      { extends: true, test: { name: 'alone', include: ALONE, isolate: true } },
    ],
    restoreMocks: true,
    // Node loads the sources, as it does when Portico runs: it removes types faster than Vite transforms a module, and
    // its compile cache stores the result. Module mocks are not available in this mode, but the tests do not use any.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    setupFiles: ['test/builders/register-clean-up.ts'],
    sequence: { sequencer: SlowFirst },
    // These limits only end tests that hang. A test that takes a second can take a minute on a machine that is busy with
    // other work, and must not fail because of it.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // `npm run coverage` prints a summary and writes the coverage of each line to coverage/index.html.
    coverage: { include: ['src/**/*.ts'], reporter: ['text-summary', 'html'] },
    // Tests poll for results of other processes and sockets. This limit, too, only ends tests that hang.
    expect: { poll: { timeout: 120_000 } },
  },
});
