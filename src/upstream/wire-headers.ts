import type { Readable } from 'node:stream';
import type { HeaderPairs } from '../model/header-pairs.ts';
import { endToEnd } from './hop-by-hop.ts';

/**
 * The end-to-end fields of a request, flat as undici takes them, without `Host` and `Expect`. Only a streamed body keeps the
 * length that its sender declared: it is checked while it is sent.
 */
export function wireHeaders(headers: HeaderPairs, body: Buffer | Readable | undefined): string[] {
  const keepsLength = body !== undefined && !Buffer.isBuffer(body);
  const flat: string[] = [];
  for (const [name, value] of endToEnd(headers)) {
    const key = name.toLowerCase();
    if (key !== 'host' && key !== 'expect' && (key !== 'content-length' || keepsLength)) flat.push(name, value);
  }
  return flat;
}
