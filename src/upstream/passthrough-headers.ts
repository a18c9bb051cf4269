import type { Arrival } from '../model/arrival.ts';
import type { HeaderPairs } from '../model/header-pairs.ts';
import { transparentHeaders } from './transparent-headers.ts';

/** How the request of an undocumented path differs from what the client sent. */
export interface PassthroughHeaderChoice {
  /** In `observe`: the client's own fields, credential included. */
  readonly transparent: boolean;
  /** The credential to send outside `observe`; the client's own `Authorization` is never passed on unseen there. */
  readonly authorization: string | undefined;
  /** True when the body of the answer is to be read on its way. */
  readonly identityCoding: boolean;
}

// They would turn a method that was let through into another one.
const METHOD_OVERRIDES = new Set(['x-http-method-override', 'x-http-method', 'x-method-override']);

/** The end-to-end fields of an upstream request for an undocumented path. */
export function passthroughHeaders(arrival: Arrival, choice: PassthroughHeaderChoice): HeaderPairs {
  if (choice.transparent) return transparentHeaders(arrival);
  const fields = transparentHeaders(arrival, choice.authorization).filter(([name]) => {
    const key = name.toLowerCase();
    if (METHOD_OVERRIDES.has(key)) return false;
    if (key === 'authorization') return choice.authorization !== undefined;
    // Parts of a body cannot be rewritten: an address may lie across their edge.
    return !choice.identityCoding || (key !== 'accept-encoding' && key !== 'range' && key !== 'if-range');
  });
  return choice.identityCoding ? [...fields, ['Accept-Encoding', 'identity']] : fields;
}
