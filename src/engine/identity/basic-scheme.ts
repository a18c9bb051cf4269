import { type BasicCredential, readBasicCredential } from '../../lib/basic-credentials.ts';
import type { Scheme } from './verifier.ts';

const IS_BASIC = /^ *basic(?: |$)/i;

/** Basic authentication: a name and a password (RFC 7617). */
export const BASIC_SCHEME: Scheme<BasicCredential> = {
  name: 'Basic',
  read: (header) => (IS_BASIC.test(header) ? (readBasicCredential(header) ?? 'malformed') : undefined),
  // RFC 7617 §2 and §2.1.
  challenge: (realm) => `Basic realm="${realm.replaceAll(/[\\"]/g, String.raw`\$&`)}", charset="UTF-8"`,
};
