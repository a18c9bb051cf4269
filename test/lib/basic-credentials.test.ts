import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseBasicCredentials, readBasicCredential, toAuthorization } from '../../src/lib/basic-credentials.ts';
import { basic } from '../engine/identity/identity-fixtures.ts';

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
    ['a scheme with the same ending', `Digest Basic ${encoded('a:b')}`],
    ['no space', `Basic${encoded('a:b')}`],
    ['no colon', `Basic ${encoded('no colon')}`],
    // Repeated headers are joined with commas. Neither of the two credentials may be used.
    ['two credentials', `Basic ${encoded('a:b')}, Basic ${encoded('c:d')}`],
  ])('returns nothing for %s', (_what, header) => {
    expect(parseBasicCredentials(header)).toBeUndefined();
  });

  // The attack: a client sends a header that would make a regular expression backtrack for seconds.
  it('parses a header that is built to slow it down in linear time', () => {
    const started = performance.now();
    for (const header of [`Basic ${'='.repeat(60_000)}`, `${' '.repeat(60_000)}x`, `Basic ${'A'.repeat(60_000)} x`])
      expect(parseBasicCredentials(header)).toBeUndefined();
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});

describe('a Basic credential', () => {
  it('is remembered and sent in one form, however it was written', () => {
    const credential = { name: 'alice', password: 'a:b', authorization: basic('alice', 'a:b') };
    expect(toAuthorization('alice', 'a:b')).toBe(credential.authorization);
    for (const header of [
      credential.authorization,
      credential.authorization.replace('Basic ', 'bAsIc   '),
      credential.authorization.replaceAll('=', ''),
    ])
      expect(readBasicCredential(header)).toEqual(credential);
  });

  it('is read in Latin-1 if it is not UTF-8, and sent as it came', () => {
    const header = `Basic ${Buffer.from('jörg:pässwörd', 'latin1').toString('base64')}`;
    expect(readBasicCredential(header)).toEqual({ name: 'jörg', password: 'pässwörd', authorization: header });
    expect(parseBasicCredentials(header)).toEqual({ name: 'jörg', password: 'pässwörd' });
    // In Latin-1, the byte 0x80 is a control character, which RFC 7617 allows in passwords.
    const euro = `Basic ${Buffer.from([0x6a, 0x3a, 0x80]).toString('base64')}`;
    expect(readBasicCredential(euro)).toEqual({ name: 'j', password: '\u0080', authorization: euro });
  });

  it('has a second password if the bytes are valid in both encodings and the name is the same', () => {
    expect(readBasicCredential(basic('jorg', 'ä'))).toMatchObject({ password: 'ä', latin1Password: 'Ã¤' });
    expect(readBasicCredential(basic('jörg', 'ä'))).not.toHaveProperty('latin1Password');
    expect(readBasicCredential(basic('jorg', 'a'))).not.toHaveProperty('latin1Password');
  });

  it('may have an empty password, but not an empty name', () => {
    expect(readBasicCredential(basic('alice', ''))).toMatchObject({ name: 'alice', password: '' });
    expect(readBasicCredential(basic('', 'x'))).toBeUndefined();
  });

  it('is limited in the length of its name and header', () => {
    expect(readBasicCredential(basic('a'.repeat(256), 'x'))).toBeDefined();
    expect(readBasicCredential(basic('a'.repeat(257), 'x'))).toBeUndefined();
    const longest = `Basic ${'QTpi'.repeat(1022)}`.padEnd(4096);
    expect(readBasicCredential(longest)).toBeDefined();
    expect(readBasicCredential(`${longest} `)).toBeUndefined();
  });

  it.each([
    ['a control character in the name', basic('al\u0000ice', 'x')],
    ['a control character in the password', basic('alice', 'x\u0007')],
    ['the delete character in the password', basic('alice', 'x\u007f')],
    ['no colon', `Basic ${encoded('alice')}`],
    ['a control character in a Latin-1 name', `Basic ${Buffer.from([0x6a, 0x9b, 0x3a, 0x78]).toString('base64')}`],
    ['another scheme', 'Bearer abc'],
  ])('is not usable with %s', (_what, header) => {
    expect(readBasicCredential(header)).toBeUndefined();
  });
});
