import { mayShow } from './shown-text.ts';

const MAX_LENGTH = 160;
const MAX_SEGMENTS = 12;

const VERSION = /^v\d{1,2}$/;

/**
 * Returns the structure of a path, for logs. Only the given words are shown. Every other segment (an id, a name or an address) becomes `{}`. The query is removed, and the length is limited.
 */
export function safePath(target: string, words: ReadonlySet<string>): string {
  const query = target.indexOf('?');
  const path = query < 0 ? target : target.slice(0, query);
  const segments = path.slice(0, 4 * MAX_LENGTH).split('/');
  const shown = segments.slice(0, MAX_SEGMENTS).map((segment) => {
    const ending = segment.endsWith('.json') ? '.json' : '';
    const word = segment.slice(0, segment.length - ending.length);
    return word === '' || words.has(word) || VERSION.test(word) ? segment : `{}${ending}`;
  });
  const text = shown.join('/');
  const cut = path.length > 4 * MAX_LENGTH || segments.length > MAX_SEGMENTS || text.length > MAX_LENGTH;
  return cut ? `${text.slice(0, MAX_LENGTH)}…` : text;
}

const MAX_PLACE = 200;
const MAX_SEGMENT = 64;
const ID = /^\d+(?<ending>\.json)?$/;
/** Matches segments that are already masked, and the method that precedes a path. */
const SAFE_SEGMENT = /^(?:\*\*?|\{(?:id|name)\})?(?:\.json)?$|^[A-Z-]{2,20} $/;
const NAME = /^[A-Za-z_$][\w$.-]*(?:\[\])?$|^\d+x\d+$/;

/**
 * Returns a violation's location without any text that could come from a caller. Indices and ids become `*`. Segments
 * become `?` if they are not plain names or if they look like an address or a token. The length is limited.
 */
export function placeText(at: string): string {
  const place = at
    .slice(0, 4 * MAX_PLACE)
    .split('/')
    .map(segmentOf)
    .join('/');
  return place.length > MAX_PLACE ? `${place.slice(0, MAX_PLACE)}…` : place;
}

function segmentOf(segment: string): string {
  if (segment === '' || SAFE_SEGMENT.test(segment)) return segment;
  const id = ID.exec(segment);
  if (id !== null) return `*${id.groups?.['ending'] ?? ''}`;
  return segment.length <= MAX_SEGMENT && NAME.test(segment) && mayShow(segment) ? segment : '?';
}
