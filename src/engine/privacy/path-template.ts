import { isWord } from './shown-name.ts';

const MAX_TEMPLATE_SEGMENTS = 10;

/** Matches text that cannot be a name, because it starts with a digit or is a long hexadecimal number. */
const NOT_A_NAME = /^\d|^(?=.*\d)[\da-f-]{8,}$/i;

/** Converts paths to templates. */
interface PathTemplates {
  /**
   * Returns the template of a path. `{id}` stands for a number, and `{name}` for any other text. Unknown words are
   * preserved only if the path `exists` on the upstream. A template that ends with `/**` stands for longer paths.
   */
  readonly of: (path: string, exists: boolean) => string;
  /** Returns whether a path segment is a word that is known in advance. */
  readonly isKnown: (word: string) => boolean;
}

/** The paths of an API that are known in advance: the path under which they lie, and the words that they contain. */
interface KnownPaths {
  readonly basePath: string;
  readonly pathWords: ReadonlySet<string>;
}

/**
 * Compiles the function that converts a path to a template, for example `/books/118.json` to `/books/{id}.json`.
 */
export function compilePathTemplate(
  contractPaths: Iterable<string>,
  { basePath, pathWords }: KnownPaths,
): PathTemplates {
  const words = new Set(pathWords);
  const base = basePath.split('/').slice(1, -1);
  for (const path of contractPaths)
    for (const segment of path.replace(/\.json$/, '').split('/')) if (!segment.startsWith('{')) words.add(segment);
  const of: PathTemplates['of'] = (path, exists) => {
    const ending = path.endsWith('.json') ? '.json' : '';
    const all = path.slice(0, path.length - ending.length).split('/');
    const segments = all.slice(1, MAX_TEMPLATE_SEGMENTS + 1);
    const start = base.every((segment, at) => segments[at] === segment) ? base.length : 0;
    const template = segments.map((segment, at) => {
      if (at < start || words.has(segment)) return segment;
      // The first word names a collection, and a word after an id names a part of the object. Any other word might be
      // a person's name, because clients can invent paths.
      const names = exists && (at === start || NOT_A_NAME.test(segments[at - 1] ?? ''));
      if (names && isWord(segment)) return segment;
      return /^\d+$/.test(segment) ? '{id}' : '{name}';
    });
    const rest = all.slice(MAX_TEMPLATE_SEGMENTS + 1).join('/');
    const isShort = all.length <= MAX_TEMPLATE_SEGMENTS + 1;
    return `/${template.join('/')}${isShort ? ending : rest === '' ? `/${ending}` : '/**'}`;
  };
  return { of, isKnown: (word) => words.has(word) };
}
