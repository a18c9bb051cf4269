import { describe, expect, it } from 'vitest';
import { createToken, formatToken, parseToken } from '../../../src/features/tokens/token-format.ts';

describe('the text of a token', () => {
  it('can be read again, and nothing else can', () => {
    const token = createToken();
    const text = formatToken(token);
    expect(text).toMatch(/^ptk_[0-9a-f]{16}_[0-9a-f]{48}$/);
    expect(parseToken(text)).toEqual(token);
    // Each single wrong character is noticed.
    for (let at = 0; at < text.length; at += 1) {
      const wrong = text[at] === '1' ? '2' : '1';
      expect(parseToken(text.slice(0, at) + wrong + text.slice(at + 1))).toBeUndefined();
    }
    for (const wrong of [` ${text}`, `${text}\n`, text.slice(1), `${text}0`, ''])
      expect(parseToken(wrong)).toBeUndefined();
  });

  it('never occurs twice', () => {
    const texts = new Set(Array.from({ length: 1_000 }, () => formatToken(createToken())));
    expect(texts.size).toBe(1_000);
  });
});
