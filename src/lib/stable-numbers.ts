import { createHmac } from 'node:crypto';
import { boundedMemo } from './bounded-maps.ts';

const MAX_REMEMBERED = 4_096;

/**
 * Returns a function that returns a number x (0 ≤ x < 1) for each text: always the same one, in every process. Another
 * key leads to other numbers.
 */
export function stableNumbers(key: string): (text: string) => number {
  const numberOf = boundedMemo(MAX_REMEMBERED, (text: string) => {
    const digest = createHmac('sha256', key).update(text).digest();
    return digest.readUInt32BE(0) / 2 ** 32;
  });
  return (text) => numberOf(text);
}
