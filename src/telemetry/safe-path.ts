const MAX_LENGTH = 160;
const MAX_SEGMENTS = 12;

/** Segments that are addresses of this kind of server; any other word may be somebody's name. */
const WORDS: ReadonlySet<string> = new Set(
  `services action actions answer answers article articles attachment attachments auth avatar badge cancelwiki comment
  comments container content execution expertise favorite followers gdpr getByUsername group groups idea ideacomment ideas
  image issue issuetracker jobs kbentry key latest list login markfavorite node nodes posts question questions reputation
  revision schedule search space spaces status tag ticket token topic topics unmarkfavorite upload user users vote wiki
  admin api health metrics`.split(/\s+/),
);
const VERSION = /^v\d{1,2}$/;

/**
 * The shape of an undocumented path for logs: words of this API stay, every other segment (ids, names, addresses) becomes
 * `{}`, the query is cut off and the length is bounded.
 */
export function safePath(target: string): string {
  const query = target.indexOf('?');
  const path = query < 0 ? target : target.slice(0, query);
  const segments = path.slice(0, 4 * MAX_LENGTH).split('/');
  const shown = segments.slice(0, MAX_SEGMENTS).map((segment) => {
    const ending = segment.endsWith('.json') ? '.json' : '';
    const word = segment.slice(0, segment.length - ending.length);
    return word === '' || WORDS.has(word) || VERSION.test(word) ? segment : `{}${ending}`;
  });
  const text = shown.join('/');
  const cut = path.length > 4 * MAX_LENGTH || segments.length > MAX_SEGMENTS || text.length > MAX_LENGTH;
  return cut ? `${text.slice(0, MAX_LENGTH)}…` : text;
}
