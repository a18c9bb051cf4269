import { describe, expect, it } from 'vitest';
import { readBasicCredential, toAuthorization } from '../../src/identity/basic-credential.ts';
import { basic } from './identity-fixtures.ts';

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

  it('may have an empty password, but not an empty name', () => {
    expect(readBasicCredential(basic('alice', ''))).toMatchObject({ name: 'alice', password: '' });
    expect(readBasicCredential(basic('', 'x'))).toBeUndefined();
  });

  it('is limited in the length of its name and header', () => {
    expect(readBasicCredential(basic('a'.repeat(256), 'x'))).toBeDefined();
    expect(readBasicCredential(basic('a'.repeat(257), 'x'))).toBeUndefined();
    expect(readBasicCredential(`Basic ${'QTpi'.repeat(1022)}`)).toBeDefined();
    expect(readBasicCredential(`Basic ${'QTpi'.repeat(1023)}`)).toBeUndefined();
  });

  it.each([
    ['a control character in the name', basic('al\u0000ice', 'x')],
    ['a control character in the password', basic('alice', 'x\u0007')],
    // Decoding would replace every invalid byte with the same character, so different names or passwords would become
    // equal.
    ['a name that is not UTF-8', `Basic ${Buffer.from([0x6a, 0xf6, 0x3a, 0x78]).toString('base64')}`],
    ['a password that is not UTF-8', `Basic ${Buffer.from([0x6a, 0x3a, 0xff]).toString('base64')}`],
    ['another scheme', 'Bearer abc'],
  ])('is not usable with %s', (_what, header) => {
    expect(readBasicCredential(header)).toBeUndefined();
  });
});
