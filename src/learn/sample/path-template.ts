import { isWord } from '../../privacy/client-text.ts';

/** Words of addresses that are known from the field, beside those of the contract. */
const FIELD_WORDS = [
  'services',
  'v2',
  'accept',
  'anonymize',
  'auth',
  'badge',
  'close',
  'count',
  'delete',
  'execution',
  'favorite',
  'follow',
  'getByUsername',
  'issuetracker',
  'key',
  'latest',
  'markfavorite',
  'open',
  'revision',
  'schedule',
  'search',
  'space',
  'status',
  'ticket',
  'token',
  'unfollow',
  'unmarkwiki',
  'vote',
  'wiki',
] as const;

const MAX_SEGMENTS = 10;
const PREFIX = 'services/v2';

/** What can be no name: it begins with a digit, or is a long hexadecimal number. */
const ID = /^\d|^(?=.*\d)[\da-f-]{8,}$/i;

/** Turns a path into a template; only what `exists` may have words that nobody knows. */
export interface PathTemplates {
  readonly of: (path: string, exists: boolean) => string;
  /** True for a word of addresses that is known without having been seen. */
  readonly knows: (word: string) => boolean;
}

/** Turns paths into templates: `/services/v2/question/118.json` into `/services/v2/question/{id}.json`. */
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
      // The first word names a collection, one after an id a part of it; any other may be somebody's name, and so may
      // all that a client made up.
      const names = exists && (at === start || ID.test(segments[at - 1] ?? ''));
      if (names && isWord(segment)) return segment;
      return /^\d+$/.test(segment) ? '{id}' : '{name}';
    });
    return `/${template.join('/')}${ending}`;
  };
  return { of, knows: (word) => words.has(word) };
}
