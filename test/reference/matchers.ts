import { expect } from 'vitest';

/** Matches any number. */
export const anyNumber: unknown = expect.any(Number);

/** Matches any text. */
export const anyText: unknown = expect.any(String);

/** Matches either truth value. */
export const anyBoolean: unknown = expect.any(Boolean);

/** Matches any list. */
export const anyList: unknown = expect.any(Array);

/** Matches a text by a pattern. */
export function textLike(pattern: RegExp): unknown {
  return expect.stringMatching(pattern);
}
