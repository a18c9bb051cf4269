import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, extname, join, sep } from 'node:path';
import type { OperatorPage } from '../../engine/http/operator-page.ts';

interface StaticFile {
  readonly mediaType: string;
  /** Returns the file's contents, which are read from disk only once. */
  read(): Promise<Buffer>;
}

/** The media types by file name extension. Files with other extensions are not served. */
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/**
 * Files from packages. Each entry contains the path under `/console/`, the package's name, and the name of a file in
 * the folder that contains the package's entry point.
 */
const VENDORED = [
  ['vendor/preact.js', 'preact', 'preact.mjs'],
  ['vendor/hooks.js', 'preact/hooks', 'hooks.mjs'],
  ['vendor/htm.js', 'htm', 'htm.mjs'],
  ['vendor/uplot.js', 'uplot', 'uPlot.esm.js'],
  ['vendor/uplot.css', 'uplot', 'uPlot.min.css'],
] as const;

const OWN = join(import.meta.dirname, 'public');

/**
 * Returns all files that the console serves, by URL path: the console's own files, those of the pages of features, and
 * those from packages. An index page is served at its folder's path. The folders are read once, so requests cannot reach
 * other paths.
 */
export function staticFiles(pages: readonly Pick<OperatorPage, 'folder'>[]): ReadonlyMap<string, StaticFile> {
  const require = createRequire(import.meta.url);
  return new Map([
    ...filesIn(OWN, ''),
    ...pages.flatMap(({ folder }) => filesIn(folder, '/pages')),
    ...VENDORED.map(([path, name, file]) => {
      return [`/${path}`, fileAt(join(dirname(require.resolve(name)), file), forBrowsers)] as const;
    }),
  ]);
}

function filesIn(folder: string, base: string) {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => extname(name) in TYPES);
  return names.map((name) => {
    const path = `${base}/${name.replaceAll(sep, '/')}`;
    return [path === '/index.html' ? '/' : path.replace(/\/index\.html$/, ''), fileAt(join(folder, name))] as const;
  });
}

function fileAt(path: string, convert: (text: string) => string = (text) => text): StaticFile {
  let bytes: Promise<Buffer> | undefined;
  const load = async () => Buffer.from(convert(await readFile(path, 'utf8')));
  return { mediaType: TYPES[extname(path)] ?? '', read: () => (bytes ??= load()) };
}

// Rewrites imports, because browsers cannot resolve package names. An import map would have to be an inline script,
// which the content security policy forbids.
function forBrowsers(text: string): string {
  return text.replaceAll(/from"preact"/g, 'from"./preact.js"').replaceAll(/^\/\/# sourceMappingURL=.*$/gm, '');
}
