import { createHmac, randomBytes } from 'node:crypto';

/** Turns texts into a short text that tells nothing about them without the key. */
export type KeyedHash = (...texts: readonly string[]) => string;

/** HMAC-SHA-256 in base64url under a key that lives and dies with the process. */
export function createKeyedHash(key: Buffer = randomBytes(32)): KeyedHash {
  return (...texts) => {
    const hmac = createHmac('sha256', key);
    // The length goes first, so that no two lists of texts are one text.
    for (const text of texts) hmac.update(`${text.length}:${text}`);
    return hmac.digest('base64url');
  };
}
