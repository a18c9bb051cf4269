import type { Cause, Grouped } from '../../engine/model/causes.ts';
import { operationName, placeWords } from './report-words.ts';

const MAX_NAMED = 4;

/** Names the other violations with the same cause, for example `Also in 17 more places: listIdeas, response 200, …`. */
export function otherPlaces<T>({ others }: Cause<T>, findingOf: (item: T) => Grouped): string | undefined {
  if (others.length === 0) return undefined;
  const named = others.slice(0, MAX_NAMED).map((item) => placeOf(findingOf(item)));
  const more = others.length - named.length;
  const places = `${others.length} more ${others.length === 1 ? 'place' : 'places'}`;
  return `Also in ${places}: ${named.join('; ')}${more > 0 ? `; and ${more} more, listed in the JSON report` : ''}`;
}

/** Returns the operation, the place and the fingerprint of a violation. */
export const placeOf = ({ entry }: Grouped): string =>
  `${operationName(entry.operation)}, ${placeWords(entry)} (${entry.fingerprint})`;
