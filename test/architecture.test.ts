import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { GUARDED, sourceFiles, testPatterns } from '../tools/mutations/guarded.ts';
import { type Mutation, MUTATIONS, patternOf } from '../tools/mutations/table.ts';
import { importsOf, mutualFolders, readSources, type SourceFile } from '../tools/structure.ts';
import { brokenImports, importCycles, unseenTies } from './architecture/layers.ts';
import { apiWords, barrels, errorHandlers, filesWithSkips, strayTests, usesOf } from './architecture/source-rules.ts';

const root = join(import.meta.dirname, '..', 'src');
const files = readSources(root);
const tests = readSources(import.meta.dirname);

const leaves = (specifier: string): SourceFile => ({
  path: 'engine/cache/planted.ts',
  text: `import { x } from '${specifier}';`,
});

describe('the import layers', () => {
  it('permit only imports from lower layers', () => {
    expect(brokenImports(files)).toEqual([]);
  });

  it('contain no import cycle', () => {
    expect(importCycles(files)).toEqual([]);
  });

  it('reject a planted upward import', () => {
    const planted = { path: 'engine/cache/planted.ts', text: "import { x } from '../pipeline/stage-order.ts';" };
    expect(brokenImports([planted])).toEqual(['engine/cache/planted.ts → engine/pipeline/stage-order.ts']);
  });

  it('reject planted imports from the engine into features, the profile, the workbench and the commands', () => {
    for (const entry of ['features/ledger', 'profile', 'workbench/audit', 'reference', 'cli'])
      expect(brokenImports([leaves(`../../${entry}/planted.ts`)])).toEqual([
        `engine/cache/planted.ts → ${entry}/planted.ts`,
      ]);
  });

  it('reject a planted import between two parts of a layer, between two features, and into the reference server', () => {
    const sideways = { path: 'engine/cache/planted.ts', text: "export { x } from '../identity/planted.ts';" };
    const feature = { path: 'features/ledger/planted.ts', text: "import { x } from '../rate-limits/planted.ts';" };
    const reference = {
      path: 'engine/http/planted.ts',
      text: "const x = await import('../../reference/start-reference-server.ts');",
    };
    expect(brokenImports([sideways, feature, reference])).toHaveLength(3);
  });

  it('reject a planted import from outside src, except from package.json', () => {
    expect(brokenImports([leaves('../../../test/builders/call.ts')])).toEqual([
      'engine/cache/planted.ts → ../test/builders/call.ts',
    ]);
    expect(
      brokenImports([leaves('../../../../elsewhere.ts'), leaves('../../../node_modules/ajv/lib/ajv.js')]),
    ).toHaveLength(2);
    expect(brokenImports([leaves('../../../package.json')])).toEqual([]);
  });

  it('reject a planted import cycle', () => {
    const a = { path: 'lib/a.ts', text: "import './b.ts';" };
    const b = { path: 'lib/b.ts', text: "import './a.ts';" };
    expect(importCycles([a, b])).toHaveLength(1);
  });

  it('see every way in which a file depends on another', () => {
    expect(unseenTies(files)).toEqual([]);
    const ties = [
      'declare global {\n  interface Levels {}\n}',
      "declare module '../../engine/feature.ts' {}",
      '/// <reference path="../levels/levels.ts" />',
      "import type { FeatureConfig } from 'portico';",
      "type Config = import('portico').FeatureConfig;",
      "import { x } from '#levels';",
    ];
    const planted = ties.map((text, at) => ({ path: `features/planted/${at}.ts`, text }));
    expect(unseenTies(planted)).toHaveLength(ties.length);
  });

  it('reject a file outside all layers', () => {
    expect(brokenImports([{ path: 'stray/file.ts', text: '' }])).toEqual(['stray/file.ts is not in any layer']);
  });
});

describe('the engine', () => {
  it('knows no word of the API', () => {
    expect(apiWords(files)).toEqual([]);
  });

  it('is found out if it does', () => {
    const text = "// A comment about questions.\nconst path = '/services/v2/idea.json';\nconst isWiki = favorites;";
    const planted = { path: 'engine/cache/planted.ts', text };
    expect(apiWords([planted])).toEqual(
      ['services/v2', 'idea', 'Wiki', 'favorite'].map((word) => `engine/cache/planted.ts: ${word}`),
    );
    expect(apiWords([{ ...planted, path: 'profile/planted.ts' }])).toEqual([]);
  });
});

describe('the sources', () => {
  it('contain no barrel', () => {
    expect(barrels(files)).toEqual([]);
  });

  it.each([
    ['lib/index.ts', ''],
    ['lib/planted.ts', "export { x } from './clock.ts';"],
    ['lib/planted.ts', "export type {\n  X,\n} from './clock.ts';"],
    ['lib/planted.ts', "export * from './clock.ts';"],
    ['lib/planted.ts', "export * as clock from './clock.ts';"],
  ])('are rejected if they contain a barrel: %s %s', (path, text) => {
    expect(barrels([{ path, text }])).toEqual([path]);
  });

  // Two lists of key prefixes would diverge, and a key hidden by one would be visible through the other.
  it('list the key prefixes in one file only', () => {
    const lists = files.filter(({ text }) => /glpat|AKIA|eyJ\[/.test(text)).map(({ path }) => path);
    expect(lists).toEqual(['engine/privacy/secret-text.ts']);
  });

  // Using another store must not require a change in every command that reads the ledger.
  it('choose the store of a ledger in only one place', () => {
    const openers = files.flatMap((file) =>
      importsOf(file)
        .filter((to) => /^features\/ledger\/store\/(?!select-store)/.test(to))
        .map((to) => `${file.path} → ${to}`),
    );
    expect(openers.filter((one) => !one.startsWith('features/ledger/store/'))).toEqual([]);
  });

  // If a spread replaced only `file`, the other settings of the old location would remain, even if that location is not
  // a file.
  it('replace the location of a ledger in only one place', () => {
    const replaced = /\.\.\.\s*[\w.]*ledger\w*,\s*file\b/i;
    const places = files.filter(
      ({ path, text }) => path !== 'features/ledger/store/select-store.ts' && replaced.test(text),
    );
    expect(places.map(({ path }) => path)).toEqual([]);
    expect(replaced.test('ledgerAt({ ...settings.ledger, file: given })')).toBe(true);
  });

  it('turn errors into responses in only one place on the public side', () => {
    expect(usesOf('writeError', files)).toEqual(['engine/http/public-handler.ts']);
    // Bytes that are not a valid request never reach the handler.
    expect(usesOf('toErrorBody', files).toSorted()).toEqual([
      'engine/http/connection.ts',
      'engine/http/write-error.ts',
    ]);
    // The admin side and the reference server have their own error responses.
    const gateway = files.filter(({ path }) => !path.startsWith('reference/'));
    expect(errorHandlers(gateway).toSorted()).toEqual(['engine/http/admin-app.ts']);
  });

  it('are rejected if a second place turns errors into responses', () => {
    const second = { path: 'http/planted.ts', text: 'app.use((error, req, res, _next) => res.end());' };
    const typed = { path: 'http/typed.ts', text: 'app.use((err: unknown, req: Request, res: Response, next) => 1);' };
    expect(errorHandlers([second, typed])).toEqual(['http/planted.ts', 'http/typed.ts']);
    expect(usesOf('writeError', [{ path: 'x.ts', text: 'fail(writeError(a));\nwriteError(b);' }])).toHaveLength(2);
  });
});

// Test folders that cover the whole gateway or files outside `src`.
const FOLDERS = [
  'architecture',
  'browser',
  'builders',
  'cases',

  'deploy',
  'examples',
  'gateway',
  'interfaces',
  'readme',
  'rules',
  'second-contract',
  'security',
  'trust',
];
const BESIDE_NO_SOURCE = [
  // This test removes each feature from a copy of the sources.
  'features/take-out.test.ts',
  // These tests run the program as a separate process.
  'cli/launcher.test.ts',
  'cli/portico.test.ts',
  // This test goes through all commands and their files.
  'cli/plain-words.test.ts',
  // These tests compare whole servers.
  'workbench/compare/same-server.test.ts',
  // These tests compare all metrics of a scrape, in both formats.
  'engine/telemetry/exposition.test.ts',
  // These tests check generated files that are committed, and the tools that verify committed files.
  'engine/config/committed-files.test.ts',
  'engine/contract/contract-tools.test.ts',
  'engine/contract/generated-schemas.test.ts',
  // This test compares the whole contract with the legacy server's known behavior.
  'engine/contract/quirks.test.ts',
  // These tests go through the whole contract, and from samples to a contract with the learned overlay.
  'engine/contract/inferred-statements.test.ts',
  'features/learning/clean-traffic.test.ts',
  // This test sends requests with an unsupported `Expect` header. Those requests never reach the public app.
  'engine/http/expectation.test.ts',
  // These tests send requests through gateways whose levels change.
  'features/levels/ladder-at-work.test.ts',
  'features/levels/overrides-at-work.test.ts',
  // This test compares the plans of all operations with a snapshot.
  'engine/pipeline/plans.test.ts',
  // This test recompiles the committed module and runs the fuzzer.
  'engine/scanner/scanner-tools.test.ts',
  // These tests use the reference server over HTTP, with several operations per file.
  'reference/chaos/chaos.test.ts',
  'reference/operations/comment-writes.test.ts',
  'reference/operations/list-users.test.ts',
  'reference/undocumented/undocumented.test.ts',
];

describe('the layout of the sources', () => {
  it('has no two subfolders that import each other', () => {
    expect(mutualFolders(files)).toEqual([]);
  });

  it('is rejected if two subfolders import each other', () => {
    const planted = [
      { path: 'cache/a/one.ts', text: "import { two } from '../b/two.ts';" },
      { path: 'cache/b/two.ts', text: "import { one } from '../a/one.ts';" },
    ];
    expect(mutualFolders(planted)).toEqual(['cache/a cache/b']);
  });
});

describe('the table of mutations', () => {
  const textOf = new Map(files.map(({ path, text }) => [`src/${path}`, text]));
  const stale = (rows: readonly Mutation[]) =>
    rows
      .filter(({ find, file, test }) => {
        const found = [...(textOf.get(file) ?? '').matchAll(patternOf(find))].length;
        return found !== 1 || !existsSync(join(root, '..', test));
      })
      .map(({ file, find }) => `${file}: ${find}`);

  it('names a test that exists, and a text that occurs exactly once in its file', () => {
    expect(stale(MUTATIONS)).toEqual([]);
  });

  it('is rejected if a text, a file or a test has been removed', () => {
    const [row] = MUTATIONS as [Mutation];
    const gone = [{ find: 'no longer there' }, { file: 'src/removed.ts' }, { test: 'test/removed.test.ts' }];
    expect(stale(gone.map((change) => Object.assign({}, row, change)))).toHaveLength(3);
  });

  it('has no row whose test Stryker runs', () => {
    const tried = new Set(
      GUARDED.flatMap((guarded) => {
        const beside = testPatterns(guarded).flatMap((pattern) => globSync(pattern, { cwd: join(root, '..') }));
        return sourceFiles(guarded).flatMap((file) => beside.map((test) => `${file} ${test}`));
      }),
    );
    expect(MUTATIONS.filter(({ file, test }) => tried.has(`${file} ${test}`))).toEqual([]);
  });
});

describe('the sources that Stryker mutates', () => {
  it.each(GUARDED)('exist and have tests: $name', (guarded) => {
    for (const source of guarded.sources) expect(sourceFiles({ sources: [source] })).not.toEqual([]);
    expect((guarded.except ?? []).filter((file) => !sourceFiles({ sources: guarded.sources }).includes(file))).toEqual(
      [],
    );
    for (const pattern of testPatterns(guarded)) expect(globSync(pattern, { cwd: join(root, '..') })).not.toEqual([]);
  });

  it('belong to one entry each', () => {
    const all = GUARDED.flatMap(sourceFiles);
    expect(all).toHaveLength(new Set(all).size);
  });
});

describe('the tests', () => {
  const sources = files.map(({ path }) => path);
  const paths = tests.map(({ path }) => path);

  it('have the path of the source file that they test', () => {
    expect(strayTests(paths, sources, { folders: FOLDERS, tests: BESIDE_NO_SOURCE })).toEqual([]);
  });

  it('are exempt from this rule only while they exist and need the exemption', () => {
    expect(BESIDE_NO_SOURCE.filter((path) => !paths.includes(path))).toEqual([]);
    expect(BESIDE_NO_SOURCE.filter((path) => sources.includes(path.replace('.test.ts', '.ts')))).toEqual([]);
    expect(FOLDERS.filter((folder) => !paths.some((path) => path.startsWith(`${folder}/`)))).toEqual([]);
  });

  it('are rejected if they match no source folder or no source file', () => {
    const planted = [
      'engine/cache/planted.test.ts',
      'engnie/cache/memory-pages.test.ts',
      'engine/cache/memory-pages.test.ts',
      'engine/cache/fixture.ts',
    ];
    expect(strayTests(planted, sources, { folders: [], tests: [] })).toEqual([
      'engine/cache/planted.test.ts',
      'engnie is not a source folder',
    ]);
  });

  it('run without exception', () => {
    // If a system program is missing, this file skips its tests. If PORTICO_REQUIRE_PROGRAMS is set, they fail instead.
    expect(filesWithSkips(tests.filter(({ path }) => path !== 'builders/needs-program.ts'))).toEqual([]);
    const marks = ['only', 'skip', 'todo', 'each.only', 'skipIf', 'fails'].map((mark) => `it.${mark}('x')`);
    const planted = marks.map((text, index) => ({ path: `planted-${index}`, text }));
    expect(filesWithSkips(planted)).toHaveLength(6);
  });
});
