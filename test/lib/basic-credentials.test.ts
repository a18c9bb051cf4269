import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseBasicCredentials } from '../../src/lib/basic-credentials.ts';

const encoded = (text: string | Buffer) => Buffer.from(text).toString('base64');

describe('the parser of Basic credentials (RFC 7617)', () => {
  it('returns the name before the first colon and the password after it', () => {
    expect(parseBasicCredentials(`Basic ${encoded('alice:a:b')}`)).toEqual({ name: 'alice', password: 'a:b' });
    expect(parseBasicCredentials(`Basic ${encoded(':')}`)).toEqual({ name: '', password: '' });
  });

  it.each([
    ['a scheme in any case', `bAsIc ${encoded('a:b')}`],
    ['several spaces', `  Basic   ${encoded('a:b')}  `],
    ['no padding', `Basic ${encoded('a:b').replaceAll('=', '')}`],
    ['the URL-safe alphabet', `Basic ${Buffer.from('a:b').toString('base64url')}`],
  ])('accepts %s', (_what, header) => {
    expect(parseBasicCredentials(header)).toEqual({ name: 'a', password: 'b' });
  });

  it('reads any UTF-8 text and any password', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }).filter((name) => !name.includes(':')),
        fc.string({ unit: 'grapheme' }),
        (name, password) => {
          expect(parseBasicCredentials(`Basic ${encoded(`${name}:${password}`)}`)).toEqual({ name, password });
        },
      ),
    );
  });

  it.each([
    ['nothing', ''],
    ['the scheme alone', 'Basic'],
    ['an empty credential', 'Basic '],
    ['text that is not base64', 'Basic %%%'],
    ['padding in the middle', 'Basic YTpi=YQ'],
    ['another scheme', 'Bearer abc'],
    ['a scheme with the same beginning', `Basics ${encoded('a:b')}`],
    ['no space', `Basic${encoded('a:b')}`],
    ['no colon', `Basic ${encoded('no colon')}`],
    // Repeated headers are joined with a comma, and neither of their values may be used as the credential.
    ['two credentials', `Basic ${encoded('a:b')}, Basic ${encoded('c:d')}`],
  ])('returns nothing for %s', (_what, header) => {
    expect(parseBasicCredentials(header)).toBeUndefined();
  });

  // The attack: a client sends a header on which a regular expression would backtrack for seconds.
  it('parses a header that is built to slow it down in linear time', () => {
    const started = performance.now();
    for (const header of [`Basic ${'='.repeat(60_000)}`, `${' '.repeat(60_000)}x`, `Basic ${'A'.repeat(60_000)} x`])
      expect(parseBasicCredentials(header)).toBeUndefined();
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});
