import type { Arrival } from '../model/arrival.ts';
import type { HeaderPairs } from '../model/header-pairs.ts';
import { forwardingHeaders, isForwardingField } from './forwarding-headers.ts';
import { endToEnd, toHeaderPairs } from './hop-by-hop.ts';

/**
 * The client's end-to-end fields as they came, for `observe`: `Host` and `Expect` belong to the connection and go,
 * forwarding fields are ours. An `authorization` replaces the client's own.
 */
export function transparentHeaders(arrival: Arrival, authorization?: string): HeaderPairs {
  const fields = endToEnd(toHeaderPairs(arrival.rawHeaders));
  const kept = fields.filter(([name]) => {
    const key = name.toLowerCase();
    if (key === 'authorization') return authorization === undefined;
    return key !== 'host' && key !== 'expect' && !isForwardingField(key);
  });
  const own = authorization === undefined ? [] : [['Authorization', authorization] as const];
  return [...kept, ...own, ...forwardingHeaders(arrival, fields)];
}
