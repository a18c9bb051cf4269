import { randomBytes } from 'node:crypto';

const POOL_BYTES = 4096;

/** Gives that many random hexadecimal digits; of at most 64, and no digit twice. */
export type RandomHex = (digits: number) => string;

/** Draws from a pool that is filled from the system's generator now and then: asking it for each id costs more than an answer from memory. */
export function createRandomHex(fill: (bytes: number) => Buffer = randomBytes): RandomHex {
  let pool = '';
  let used = 0;
  return (digits) => {
    if (used + digits > pool.length) {
      pool = fill(POOL_BYTES).toString('hex');
      used = 0;
    }
    used += digits;
    return pool.slice(used - digits, used);
  };
}
