import { hash, randomBytes } from 'node:crypto';

/** Turns texts into a short text that tells nothing about them without the key. */
export type KeyedHash = (...texts: readonly string[]) => string;

/**
 * SHA-256 in base64url under a key that lives and dies with the process. The key stands in front: that lets whoever
 * knows a result extend its text, but results never leave the process, and one call costs a fifth of an HMAC's.
 */
export function createKeyedHash(key: Buffer = randomBytes(32)): KeyedHash {
  const prefix = key.toString('hex');
  return (...texts) => {
    let text = prefix;
    // The length goes first, so that no two lists of texts are one text.
    for (const one of texts) text += `${one.length}:${one}`;
    return hash('sha256', text, 'base64url');
  };
}
