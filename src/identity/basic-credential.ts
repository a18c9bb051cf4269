import { toAuthorization } from './basic-authorization.ts';
import type { Credential } from './verifier.ts';

/** Longer header values are no Basic credential that anybody types or generates. */
export const MAX_HEADER_LENGTH = 4096;

const MAX_NAME_LENGTH = 256;
// RFC 7617, 2: no control characters. U+FFFD is what bytes that are not UTF-8 become, and would make two names one.
const UNUSABLE = /[\p{Cc}\u{FFFD}]/u;

/** Makes a credential of its parsed parts; undefined for an empty or overlong name, control characters and text that is not UTF-8. */
export function toBasicCredential(name: string, password: string): Credential | undefined {
  if (name === '' || name.length > MAX_NAME_LENGTH || UNUSABLE.test(name) || UNUSABLE.test(password)) return undefined;
  return { name, password, authorization: toAuthorization(name, password) };
}
