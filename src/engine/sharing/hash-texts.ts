import { createHmac } from 'node:crypto';

/**
 * Hashes strings with a key (HMAC-SHA-256, base64url). The length of each string is part of the input, so that different
 * lists never produce the same input. Gateways of different releases must compute the same hashes.
 */
export function hashTexts(key: Buffer | string, texts: readonly string[]): string {
  return createHmac('sha256', key)
    .update(texts.map((one) => `${one.length}:${one}`).join(''))
    .digest('base64url');
}
