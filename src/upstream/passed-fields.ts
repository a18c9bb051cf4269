import type { IncomingMessage } from 'node:http';
import type { HeaderPairs } from '../model/header-pairs.ts';

/** The headers of a passed request as the proxy library takes them. */
export type PassedFields = Record<string, string | string[]>;

/**
 * Makes an object of the headers: repeated ones become lists, which Node writes one line each, and a name keeps the case in
 * which it came first. `Host` is the upstream's. The framing is taken from what the parser made of the client's request, never
 * from `headers`: whatever was left out of them, a request that came with a body is sent with its length or chunked.
 */
export function passedFields(
  { headers: received }: Pick<IncomingMessage, 'headers'>,
  headers: HeaderPairs,
  host: string,
): PassedFields {
  const fields: PassedFields = { host };
  const names = new Map<string, string>();
  for (const [name, value] of headers) {
    const key = name.toLowerCase();
    if (FRAMING.has(key)) continue;
    const first = names.get(key);
    if (first !== undefined) {
      fields[first] = [fields[first] ?? [], value].flat();
      continue;
    }
    names.set(key, name);
    fields[name] = value;
  }
  // In lower case, the only one in which the proxy library looks for a length: one that it does not see, on a DELETE or
  // OPTIONS, it overwrites with 0, and the upstream would read the body as a second request.
  if (received['transfer-encoding'] !== undefined) fields['transfer-encoding'] = 'chunked';
  else if (received['content-length'] !== undefined) fields['content-length'] = received['content-length'];
  return fields;
}

const FRAMING: ReadonlySet<string> = new Set(['host', 'content-length', 'transfer-encoding']);
