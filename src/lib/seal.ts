import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * Seals values that gateways store in a shared place, so that a gateway uses only values that a gateway of the same fleet
 * has written for the same purpose.
 */
export interface Seal {
  /** Seals a value. `context` names what the value is for, such as the cache key of a page. */
  seal(context: string, value: Buffer): Buffer;
  /** Returns the value, or undefined if no key of the fleet has sealed it for this context. */
  open(context: string, sealed: Buffer): Buffer | undefined;
}

const TAG_BYTES = 32;

/** The minimum length of a key, in characters. Shorter texts can be guessed. */
export const MIN_SEAL_KEY = 32;

const UNSEALED: Seal = { seal: (_context, value) => value, open: (_context, value) => value };

// The length of the context is part of the input, so that context and value cannot exchange characters.
const tagOf = (key: string, context: string, value: Buffer) =>
  createHmac('sha256', key)
    .update(`portico ${Buffer.byteLength(context)}:${context}`)
    .update(value)
    .digest();

/**
 * Creates a seal (HMAC-SHA-256). The first key seals values. Values that were sealed with any of the keys are accepted,
 * so that a fleet can replace its key without losing its pages. Without keys, values are neither sealed nor checked.
 */
export function createSeal([current, ...previous]: readonly string[]): Seal {
  if (current === undefined) return UNSEALED;
  const keys = [current, ...previous];
  return {
    seal: (context, value) => Buffer.concat([tagOf(current, context, value), value]),
    open(context, sealed) {
      if (sealed.length < TAG_BYTES) return undefined;
      const tag = sealed.subarray(0, TAG_BYTES);
      const value = sealed.subarray(TAG_BYTES);
      return keys.some((key) => timingSafeEqual(tagOf(key, context, value), tag)) ? value : undefined;
    },
  };
}
