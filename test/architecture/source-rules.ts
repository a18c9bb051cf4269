import type { SourceFile } from '../../tools/structure.ts';

const withoutComments = (text: string) => text.replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '');

/** The package's entry point: the only file that may re-export from other files. */
const PACKAGE_ENTRY = 'portico.ts';

/** Returns every barrel: a file named `index.ts` or one that re-exports from another file. */
export function barrels(files: readonly SourceFile[]): string[] {
  const reExport = /\bexport\s+(?:type\s+)?(?:\*(?:\s+as\s+\w+)?|\{[^}]*\})\s*from\b/;
  return files
    .filter(({ path }) => path !== PACKAGE_ENTRY)
    .filter(({ path, text }) => /(?:^|\/)index\.ts$/.test(path) || reExport.test(withoutComments(text)))
    .map(({ path }) => path);
}

/** Returns the files that call a function. The function's definition and its imports do not count. */
export function usesOf(name: string, files: readonly SourceFile[]): string[] {
  const use = new RegExp(`(?<!function )\\b${name}\\(`, 'g');
  return files.flatMap(({ path, text }) => [...withoutComments(text).matchAll(use)].map(() => path));
}

/**
 * Returns every file that contains an Express error handler. Error handlers are recognized by their four parameters.
 */
export function errorHandlers(files: readonly SourceFile[]): string[] {
  const handler =
    /\bErrorRequestHandler\b|\(\s*(?:err|error|thrown)\w*(?:\s*:[^,)]*)?(?:\s*,[^,)]+){3}\)\s*(?::[^=]+)?=>/;
  return files.filter(({ text }) => handler.test(withoutComments(text))).map(({ path }) => path);
}

/** Returns every test without a matching source file, and every test folder without a matching source folder. */
export function strayTests(
  tests: readonly string[],
  sources: readonly string[],
  allowed: { readonly folders: readonly string[]; readonly tests: readonly string[] },
): string[] {
  const sourceFolders = new Set(sources.filter((path) => path.includes('/')).map((path) => path.split('/')[0]));
  const known = new Set(sources);
  return tests.flatMap((path) => {
    const [folder = '', ...rest] = path.split('/');
    if (rest.length === 0 || allowed.folders.includes(folder)) return [];
    if (!sourceFolders.has(folder)) return [`${folder} is not a source folder`];
    if (!path.endsWith('.test.ts') || allowed.tests.includes(path)) return [];
    return known.has(path.replace(/\.test\.ts$/, '.ts')) ? [] : [path];
  });
}

/** Returns every test file that skips tests, or that runs only some of its tests. */
export function filesWithSkips(tests: readonly SourceFile[]): string[] {
  const mark = /\b(?:it|test|describe|suite)(?:\.\w+)*\.(?:only|skip|todo|skipIf|runIf|fails)\b/;
  return tests.filter(({ text }) => mark.test(withoutComments(text))).map(({ path }) => path);
}

/** The words of the community Q&A API. The engine serves any API, so its code contains none of them. */
const API_WORDS =
  /question|answer|comment|\bideas?\b|article|\btopics?\b|wiki|favorite|gdpr|issue.?tracker|services\/v2/gi;

/** Public names in which `answer` means a response, and a keyword of JSON Schema. */
const NOT_OF_THE_API = /portico_\w+_answers_total|shape: 'answer'|\$comment/g;

/** Returns each word of the API in the code of the engine, with its file. Comments are not code. */
export function apiWords(files: readonly SourceFile[]): string[] {
  return files
    .filter(({ path }) => path.startsWith('engine/'))
    .flatMap(({ path, text }) =>
      [...withoutComments(text).replaceAll(NOT_OF_THE_API, '').matchAll(API_WORDS)].map(([word]) => `${path}: ${word}`),
    );
}
