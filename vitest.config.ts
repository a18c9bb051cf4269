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
 * Determines the order of the test files. Those that need their own process start first, so that the workers shared by
 * the other files never have to be stopped to make room for them. The slowest files start next, so that no worker is
 * still running a slow file when the others have finished. Files that mostly wait for a browser or a server alternate
 * with files that compute, so that both run at the same time.
 */
class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const alone = sorted.filter(({ project }) => project.name === 'alone');
    const shared = sorted.filter((file) => !alone.includes(file));
    const slow = shared.filter(({ moduleId }) => SLOW.test(moduleId));
    const waiting = shared.filter(({ moduleId }) => WAITING.test(moduleId));
    const rest = shared.filter(({ moduleId }) => !SLOW.test(moduleId) && !WAITING.test(moduleId));
    const turns = Array.from({ length: Math.max(slow.length, waiting.length) }, (_, at) => [slow[at], waiting[at]]);
    return [...alone, ...turns.flat().filter((one) => one !== undefined), ...rest];
  }
}

const WAITING =
  /test\/browser\/|features\/changes\/|redis\/connect-redis|deploy\/exemplars|undocumented\/forward|gateway\/fleet|examples\/pipelines/;
const SLOW =
  /deploy\/(?:container|prometheus-rules)|security\/(?:planted-secrets|hostile-json)|gateway\/(?:alerts|no-drift|memo|audience)|cli\/(?:portico|plain-words|commands\/compare)|compare\/same-server|walk\/walk\.|test\/smoke|features\/take-out|trust\/(?:load|event|raw|upstream|fuzz|fleet-run)/;

const INCLUDE = ['test/**/*.test.ts', 'bench/test/**/*.test.ts'];

/** The tests that `npm run test:unit` leaves out: those of the gateway and of its commands, console and benchmark. */
const WHOLE = [
  'test/{browser,cases,cli,deploy,examples,gateway,rules,security,trust,workbench/walk}/**/*.test.ts',
  'bench/test/**/*.test.ts',
];
const LEFT_OUT = process.env['PORTICO_TESTS'] === 'modules' ? WHOLE : [];

/**
 * The tests that need their own process. Some measure the heap, which would contain objects from other tests. Others
 * replace the timers: undici has one timer per process, which never fires again if it is started while timers are fake.
 * One counts the open sockets, and one observes which schemas are compiled, because a process does not compile the same
 * schema twice.
 */
const ALONE = fs
  .globSync(INCLUDE, { cwd: import.meta.dirname, exclude: LEFT_OUT })
  .filter((file) =>
    /held-memory|queryObjects|useFakeTimers/.test(fs.readFileSync(join(import.meta.dirname, file), 'utf8')),
  )
  .concat('test/gateway/compiled-at-start.test.ts', 'test/trust/raw-endurance.test.ts');

export default defineConfig({
  test: {
    // Every test starts its own servers on its own ports, so files can run in parallel. CI has two cores; a third
    // worker uses them while the others wait for timeouts, browsers and servers. More workers would take more CPU time,
    // because each worker loads all modules.
    maxWorkers: 3,
    // A worker runs many files but loads each module only once. After each file, test/builders/clean-up.ts stops
    // everything that the file started.
    isolate: false,
    projects: [
      // The test files in a project share the same workers. Each worker has to load the modules and compile the
      // contract itself.
      {
        extends: true,
        test: { name: 'shared', include: INCLUDE, exclude: [...configDefaults.exclude, ...LEFT_OUT, ...ALONE] },
      },
      { extends: true, test: { name: 'alone', include: ALONE, isolate: true } },
    ],
    restoreMocks: true,
    // Node loads the sources, as it does when Portico runs: it removes types faster than Vite transforms a module, and
    // its compile cache stores the result. Module mocks are not available in this mode, but the tests do not use any.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    setupFiles: ['test/builders/register-clean-up.ts'],
    sequence: { sequencer: SlowFirst },
    // These limits exist only to end hung tests. A test that takes a second can take a minute on a busy machine, and
    // must not fail because of that.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // `npm run coverage` prints a summary and writes the coverage of each line to coverage/index.html.
    coverage: { include: ['src/**/*.ts'], reporter: ['text-summary', 'html'] },
    // Tests poll for results from other processes and sockets. As with the timeouts above, the only purpose of this
    // limit is to end hung tests.
    expect: { poll: { interval: 5, timeout: 120_000 } },
  },
});
