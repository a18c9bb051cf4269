import { isWord } from '../../privacy/client-text.ts';

/** Path segments that are known from real deployments and do not occur in the contract. */
const FIELD_WORDS = (
  'services v2 accept anonymize auth badge close count delete execution favorite follow getByUsername ' +
  'issuetracker key latest markfavorite open revision schedule search space status ticket token ' +
  'unfollow unmarkwiki vote wiki'
).split(' ');

const MAX_SEGMENTS = 10;
const PREFIX = 'services/v2';

/** Matches text that cannot be a name, because it starts with a digit or is a long hexadecimal number. */
const ID = /^\d|^(?=.*\d)[\da-f-]{8,}$/i;

/** Converts paths to templates. */
interface PathTemplates {
  /** Returns the template of a path. Unknown words are preserved only if the path `exists` on the upstream. */
  readonly of: (path: string, exists: boolean) => string;
  /** Returns whether a path segment is known in advance. */
  readonly isKnown: (word: string) => boolean;
}

/**
 * Compiles the function that converts paths to templates, for example `/services/v2/question/118.json` to
 * `/services/v2/question/{id}.json`.
 */
export function compilePathTemplate(contractPaths: Iterable<string>): PathTemplates {
  const words = new Set<string>(FIELD_WORDS);
  for (const path of contractPaths)
    for (const segment of path.replace(/\.json$/, '').split('/')) if (!segment.startsWith('{')) words.add(segment);
  const of: PathTemplates['of'] = (path, exists) => {
    const ending = path.endsWith('.json') ? '.json' : '';
    const segments = path
      .slice(0, path.length - ending.length)
      .split('/')
      .slice(1, MAX_SEGMENTS + 1);
    const start = segments.slice(0, 2).join('/') === PREFIX ? 2 : 0;
    const template = segments.map((segment, at) => {
      if (at < start || words.has(segment)) return segment;
      // The first word is the name of a collection, and a word after an id is the name of a part of the object. Any
      // other word may be a person's name, and clients can invent paths.
      const names = exists && (at === start || ID.test(segments[at - 1] ?? ''));
      if (names && isWord(segment)) return segment;
      return /^\d+$/.test(segment) ? '{id}' : '{name}';
    });
    return `/${template.join('/')}${ending}`;
  };
  return { of, isKnown: (word) => words.has(word) };
}
