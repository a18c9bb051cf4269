const MAX_LENGTH = 160;
const MAX_SEGMENTS = 12;
const PLAIN_WORD = /^[A-Za-z][A-Za-z_-]{0,39}(?:\.json)?$|^v\d{1,2}$/;

/**
 * The shape of an undocumented path for logs: plain words stay, every other segment (ids, names, addresses) becomes `{}`,
 * the query is cut off and the length is bounded.
 */
export function safePath(target: string): string {
  const query = target.indexOf('?');
  const path = query < 0 ? target : target.slice(0, query);
  const segments = path.slice(0, 4 * MAX_LENGTH).split('/');
  const shown = segments.slice(0, MAX_SEGMENTS).map((segment) => {
    if (segment === '' || PLAIN_WORD.test(segment)) return segment;
    return segment.endsWith('.json') ? '{}.json' : '{}';
  });
  const text = shown.join('/');
  const cut = path.length > 4 * MAX_LENGTH || segments.length > MAX_SEGMENTS || text.length > MAX_LENGTH;
  return cut ? `${text.slice(0, MAX_LENGTH)}…` : text;
}
