import { looksSecret } from '../lib/looks-secret.ts';

const MAX_LENGTH = 200;
const MAX_SEGMENT = 64;
const ID = /^\d+(?<ending>\.json)?$/;
/** What was left out before, and the method in front of a path. */
const UNTOLD = /^\*(?:\.json)?$|^[A-Z-]{2,20} $/;
const NAME = /^[A-Za-z_$][\w$.-]*(?:\[\])?$|^\d+x\d+$/;

/**
 * A violation's place without anything a caller could have put there: indices and ids become `*`, segments that are not
 * plain names or look like an address or a token become `?`, the whole is bounded.
 */
export function placeOf(at: string): string {
  const place = at
    .slice(0, 4 * MAX_LENGTH)
    .split('/')
    .map(segmentOf)
    .join('/');
  return place.length > MAX_LENGTH ? `${place.slice(0, MAX_LENGTH)}…` : place;
}

function segmentOf(segment: string): string {
  if (segment === '' || UNTOLD.test(segment)) return segment;
  const id = ID.exec(segment);
  if (id !== null) return `*${id.groups?.['ending'] ?? ''}`;
  return segment.length <= MAX_SEGMENT && NAME.test(segment) && !looksSecret(segment) ? segment : '?';
}
