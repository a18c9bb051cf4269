import { expect } from 'vitest';

/** Matches any number. */
export const anyNumber: unknown = expect.any(Number);

/** Matches any string. */
export const anyText: unknown = expect.any(String);

/** Matches `true` and `false`. */
export const anyBoolean: unknown = expect.any(Boolean);

/** Matches any array. */
export const anyList: unknown = expect.any(Array);

/** Matches a string against a pattern. */
export function textLike(pattern: RegExp): unknown {
  return expect.stringMatching(pattern);
}
