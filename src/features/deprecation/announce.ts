import { boundedMemo } from '../../lib/bounded-maps.ts';
import { type DeprecatedEntry, isoOf, type IsRevoked, nextBrownout } from './deprecated-entries.ts';

/**
 * Returns a function that adds the headers that announce deprecations to a reply: `Deprecation` (RFC 9745), `Sunset`
 * (RFC 8594), `Link`, and the brown-out that is in progress or comes next. `headers` alternates names and values.
 */
export function createAnnouncement(
  isRevoked: IsRevoked,
): (entries: readonly DeprecatedEntry[], now: number, headers: string[]) => void {
  // The entries of an operation are the same list for each request, unless they depend on the parameters.
  const fixed = boundedMemo(MAX_LISTS, fixedHeaders);
  return (entries, now, headers) => {
    if (entries.length === 0) return;
    removeOwn(headers);
    for (const text of fixed(entries)) headers.push(text);
    const brownout = nextBrownout(entries, now, isRevoked);
    if (brownout !== undefined) headers.push('Portico-Brownout', `${isoOf(brownout.from)}/${isoOf(brownout.to)}`);
  };
}

/** The headers of which a response may have only one. The upstream's own links are kept, because there can be several. */
const SINGLE = /^(?:deprecation|sunset|portico-brownout)$/i;

/** Removes what the upstream says about its deprecations, because the configuration knows better. */
function removeOwn(headers: string[]): void {
  for (let at = headers.length - 2; at >= 0; at -= 2) if (SINGLE.test(headers[at] ?? '')) headers.splice(at, 2);
}

const MAX_LISTS = 400;

/** Returns the headers that are the same at all times. If several entries apply, the earliest instants count. */
function fixedHeaders(entries: readonly DeprecatedEntry[]): readonly string[] {
  const since = Math.min(...entries.map((one) => one.since));
  const sunset = Math.min(...entries.map((one) => one.sunset ?? Infinity));
  const links = new Set(
    entries.flatMap(({ link, successor }) => [
      ...(link === undefined ? [] : [`<${link}>; rel="deprecation"; type="text/html"`]),
      ...(successor === undefined ? [] : [`<${successor}>; rel="successor-version"`]),
    ]),
  );
  return [
    'Deprecation',
    `@${Math.floor(since / 1000)}`,
    ...(sunset === Infinity ? [] : ['Sunset', new Date(sunset).toUTCString()]),
    ...(links.size === 0 ? [] : ['Link', [...links].join(', ')]),
  ];
}
