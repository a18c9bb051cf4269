import type { IncomingMessage } from 'node:http';
import type { HeaderPairs } from '../model/header-pairs.ts';

/** The fields of a passed request as the proxy library takes them. */
export type PassedFields = Record<string, string | string[]>;

/** Makes an object of the fields: repeated ones become lists, which Node writes one line each; a name keeps the case it came in first. */
export function passedFields(
  { headers: received }: Pick<IncomingMessage, 'headers'>,
  headers: HeaderPairs,
  host: string,
): PassedFields {
  const fields: PassedFields = { host };
  const names = new Map<string, string>();
  for (const [name, value] of headers) {
    const key = name.toLowerCase();
    const first = names.get(key);
    if (first !== undefined) {
      fields[first] = [fields[first] ?? [], value].flat();
      continue;
    }
    // The proxy library looks for it by this case only: a length that it does not see, on a DELETE or OPTIONS, it
    // overwrites with 0, and the body would be read upstream as another request.
    const written = key === 'content-length' ? key : name;
    names.set(key, written);
    fields[written] = value;
  }
  // The framing of the body is ours, but a body of unknown length must be framed as one, whatever the method.
  if (received['transfer-encoding'] !== undefined) fields['transfer-encoding'] = 'chunked';
  return fields;
}
