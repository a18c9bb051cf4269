import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { importsOf, measureStructure, readSources, type SourceFile } from '../tools/structure.ts';
import { brokenImports, importCycles } from './architecture/floors.ts';
import { barrels, errorHandlers, leavingOut, strayTests, usesOf } from './architecture/source-rules.ts';

const root = join(import.meta.dirname, '..', 'src');
const files = readSources(root);
const tests = readSources(import.meta.dirname);

const leaves = (specifier: string): SourceFile => ({
  path: 'cache/planted.ts',
  text: `import { x } from '${specifier}';`,
});

describe('the floors of the gateway', () => {
  it('hold: every import lands in its own folder or on a lower floor', () => {
    expect(brokenImports(files)).toEqual([]);
  });

  it('hold no cycle of imports', () => {
    expect(importCycles(files)).toEqual([]);
  });

  it('bite on a planted upward import', () => {
    const planted = { path: 'cache/planted.ts', text: "import { x } from '../pipeline/order.ts';" };
    expect(brokenImports([...files, planted])).toEqual(['cache/planted.ts → pipeline/order.ts']);
  });

  it('bite on a planted import between two features and on one into the reference server', () => {
    const sideways = { path: 'cache/planted.ts', text: "export { x } from '../identity/planted.ts';" };
    const reference = {
      path: 'http/planted.ts',
      text: "const x = await import('../reference/start-reference-server.ts');",
    };
    expect(brokenImports([sideways, reference])).toHaveLength(2);
  });

  it('bite on a planted import that leaves src, unless it is the package file', () => {
    expect(brokenImports([leaves('../../test/builders/call.ts')])).toEqual([
      'cache/planted.ts → ../test/builders/call.ts',
    ]);
    expect(brokenImports([leaves('../../../elsewhere.ts'), leaves('../../node_modules/ajv/lib/ajv.js')])).toHaveLength(
      2,
    );
    expect(brokenImports([leaves('../../package.json')])).toEqual([]);
  });

  it('bite on a planted cycle', () => {
    const a = { path: 'lib/a.ts', text: "import './b.ts';" };
    const b = { path: 'lib/b.ts', text: "import './a.ts';" };
    expect(importCycles([a, b])).toHaveLength(1);
  });

  it('are asked of every file: a path outside the plan is an error of its own', () => {
    expect(brokenImports([{ path: 'stray/file.ts', text: '' }])).toEqual(['stray/file.ts is on no floor']);
  });
});

describe('the sources', () => {
  it('hold no barrel', () => {
    expect(barrels(files)).toEqual([]);
  });

  it.each([
    ['lib/index.ts', ''],
    ['lib/planted.ts', "export { x } from './clock.ts';"],
    ['lib/planted.ts', "export type {\n  X,\n} from './clock.ts';"],
    ['lib/planted.ts', "export * from './clock.ts';"],
    ['lib/planted.ts', "export * as clock from './clock.ts';"],
  ])('with a planted barrel are found out: %s %s', (path, text) => {
    expect(barrels([{ path, text }])).toEqual([path]);
  });

  // Two lists of the prefixes of keys drift apart: what one place refuses, the other shows.
  it('know the forms of keys in one folder', () => {
    const lists = files.filter(({ text }) => /glpat|AKIA|eyJ\[/.test(text)).map(({ path }) => path);
    expect(lists).toEqual(['privacy/secret-text.ts']);
  });

  // Another store must not require changes in every command that reads the ledger.
  it('choose the store of a ledger in one place', () => {
    const openers = files.flatMap((file) =>
      importsOf(file)
        .filter((to) => /^ledger\/store\/(?!ledger-location|ledger-file-error)/.test(to))
        .map((to) => `${file.path} → ${to}`),
    );
    expect(openers.filter((one) => !one.startsWith('ledger/store/'))).toEqual([
      // What is recorded before the store is open, and all of it if there is no other.
      'assembly/assemble-ledger.ts → ledger/store/memory-store.ts',
    ]);
  });

  it('turn errors into answers in one place of the public side', () => {
    expect(usesOf('writeError', files)).toEqual(['http/public-handler.ts']);
    // What is not a request yet never reaches the handler.
    expect(usesOf('toErrorBody', files).toSorted()).toEqual(['http/connection.ts', 'http/write-error.ts']);
    // The admin side has answers of its own, as the reference server has.
    const gateway = files.filter(({ path }) => !path.startsWith('reference/'));
    expect(errorHandlers(gateway).toSorted()).toEqual(['http/admin-app.ts']);
  });

  it('with a planted second place are found out', () => {
    const second = { path: 'http/planted.ts', text: 'app.use((error, req, res, _next) => res.end());' };
    const typed = { path: 'http/typed.ts', text: 'app.use((err: unknown, req: Request, res: Response, next) => 1);' };
    expect(errorHandlers([second, typed])).toEqual(['http/planted.ts', 'http/typed.ts']);
    expect(usesOf('writeError', [{ path: 'x.ts', text: 'fail(writeError(a));\nwriteError(b);' }])).toHaveLength(2);
  });
});

// Not about one room: the whole gateway, or what stands beside the sources.
const FOLDERS = [
  'architecture',
  'browser',
  'builders',
  'cases',
  'contracts',
  'deploy',
  'examples',
  'gateway',
  'readme',
  'rules',
  'security',
];
const BESIDE_NO_SOURCE = [
  // The program from outside, as a process.
  'cli/launcher.test.ts',
  'cli/portico.test.ts',
  // Committed files: what is generated, and tools that check them.
  'config/committed-files.test.ts',
  'contract/contract-tools.test.ts',
  'contract/generated-schemas.test.ts',
  // The contract as a whole, against what is known of the legacy server.
  'contract/quirks.test.ts',
  // Node's own answer to an expectation, around the public app.
  'http/expectation.test.ts',
  // A snapshot of the plans of all operations.
  'pipeline/plans.test.ts',
  // The reference server from outside, several operations to a file.
  'reference/chaos/chaos.test.ts',
  'reference/operations/comment-writes.test.ts',
  'reference/operations/list-users.test.ts',
  'reference/operations/marks.test.ts',
  'reference/undocumented/undocumented.test.ts',
];

describe('the layout of the sources', () => {
  const repository = join(import.meta.dirname, '..');
  const readers = ['test', 'tools', 'bench'].flatMap((folder) => readSources(join(repository, folder), `../${folder}`));
  const found = measureStructure(files, readers);

  it('has no folder with more than 24 files and few files that are too small to be looked for', () => {
    expect(found.crowded).toEqual([]);
    expect(found.small.length).toBeLessThanOrEqual(40);
  });

  it('has no two sub-folders that import each other, and no exported type without a second user', () => {
    expect(found.mutual).toEqual([]);
    expect(found.unsharedTypes).toEqual([]);
  });

  it('is found out where it breaks these rules', () => {
    const planted = [
      { path: 'cache/a/one.ts', text: "import { two } from '../b/two.ts';\nexport interface Alone {}" },
      { path: 'cache/b/two.ts', text: "import { one } from '../a/one.ts';" },
      ...Array.from({ length: 25 }, (_, at) => ({ path: `cache/c/${at}.ts`, text: '' })),
    ];
    expect(measureStructure(planted)).toMatchObject({
      crowded: ['cache/c: 25'],
      mutual: ['cache/a cache/b'],
      unsharedTypes: ['cache/a/one.ts#Alone'],
    });
  });
});

describe('the tests', () => {
  const sources = files.map(({ path }) => path);
  const paths = tests.map(({ path }) => path);

  it('stand beside the source file that they are about, in a room that exists', () => {
    expect(strayTests(paths, sources, { folders: FOLDERS, tests: BESIDE_NO_SOURCE })).toEqual([]);
  });

  it('are excused from that by name only while they exist and need it', () => {
    expect(BESIDE_NO_SOURCE.filter((path) => !paths.includes(path))).toEqual([]);
    expect(BESIDE_NO_SOURCE.filter((path) => sources.includes(path.replace('.test.ts', '.ts')))).toEqual([]);
    expect(FOLDERS.filter((folder) => !paths.some((path) => path.startsWith(`${folder}/`)))).toEqual([]);
  });

  it('that are planted in no room or beside no source are found out', () => {
    const planted = [
      'cache/planted.test.ts',
      'cahce/page-cache.test.ts',
      'cache/page-cache.test.ts',
      'cache/fixture.ts',
    ];
    expect(strayTests(planted, sources, { folders: [], tests: [] })).toEqual([
      'cache/planted.test.ts',
      'cahce is no room',
    ]);
  });

  it('are all run', () => {
    // This one skips where a program of the system is missing, and fails there under PORTICO_REQUIRE_PROGRAMS.
    expect(leavingOut(tests.filter(({ path }) => path !== 'builders/needs-program.ts'))).toEqual([]);
    const marks = ['only', 'skip', 'todo', 'each.only', 'skipIf', 'fails'].map((mark) => `it.${mark}('x')`);
    const planted = marks.map((text, index) => ({ path: `planted-${index}`, text }));
    expect(leavingOut(planted)).toHaveLength(6);
  });
});
