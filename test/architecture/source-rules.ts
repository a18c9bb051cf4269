import type { SourceFile } from '../../tools/structure.ts';

const withoutComments = (text: string) => text.replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '');

/** What the package exports; the one file that may pass on what others hold. */
const PACKAGE_ENTRY = 'portico.ts';

/** Every file whose name or text makes it a barrel: an `index.ts`, or an export of what another file holds. */
export function barrels(files: readonly SourceFile[]): string[] {
  const passesOn = /\bexport\s+(?:type\s+)?(?:\*(?:\s+as\s+\w+)?|\{[^}]*\})\s*from\b/;
  return files
    .filter(({ path }) => path !== PACKAGE_ENTRY)
    .filter(({ path, text }) => /(?:^|\/)index\.ts$/.test(path) || passesOn.test(withoutComments(text)))
    .map(({ path }) => path);
}

/** Every use of a name in code, as the file of each; its definition and its imports are none. */
export function usesOf(name: string, files: readonly SourceFile[]): string[] {
  const use = new RegExp(`(?<!function )\\b${name}\\(`, 'g');
  return files.flatMap(({ path, text }) => [...withoutComments(text).matchAll(use)].map(() => path));
}

/** Every file with code for Express error handlers, which take four parameters. */
export function errorHandlers(files: readonly SourceFile[]): string[] {
  const handler =
    /\bErrorRequestHandler\b|\(\s*(?:err|error|thrown)\w*(?:\s*:[^,)]*)?(?:\s*,[^,)]+){3}\)\s*(?::[^=]+)?=>/;
  return files.filter(({ text }) => handler.test(withoutComments(text))).map(({ path }) => path);
}

/** Every test of a room of the sources that is beside no source file, and every folder that is no room. */
export function strayTests(
  tests: readonly string[],
  sources: readonly string[],
  allowed: { readonly folders: readonly string[]; readonly tests: readonly string[] },
): string[] {
  const rooms = new Set(sources.filter((path) => path.includes('/')).map((path) => path.split('/')[0]));
  const known = new Set(sources);
  return tests.flatMap((path) => {
    const [folder = '', ...rest] = path.split('/');
    if (rest.length === 0 || allowed.folders.includes(folder)) return [];
    if (!rooms.has(folder)) return [`${folder} is no room`];
    if (!path.endsWith('.test.ts') || allowed.tests.includes(path)) return [];
    return known.has(path.replace(/\.test\.ts$/, '.ts')) ? [] : [path];
  });
}

/** Every test file that leaves tests out, or leaves out all others. */
export function leavingOut(tests: readonly SourceFile[]): string[] {
  const mark = /\b(?:it|test|describe|suite)(?:\.\w+)*\.(?:only|skip|todo|skipIf|runIf|fails)\b/;
  return tests.filter(({ text }) => mark.test(withoutComments(text))).map(({ path }) => path);
}
