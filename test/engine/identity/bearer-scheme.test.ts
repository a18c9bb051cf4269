import { describe, expect, it } from 'vitest';
import { bearerScheme } from '../../../src/engine/identity/bearer-scheme.ts';

const scheme = bearerScheme((token, authorization) => {
  if (token === 'other') return undefined;
  return token === 'cut-off' ? 'malformed' : { authorization, name: undefined };
});

describe('the Bearer scheme', () => {
  it('reads the same token in each way to write it', () => {
    for (const header of ['Bearer a.b-c~d+/==', 'bearer a.b-c~d+/==', ' BEARER   a.b-c~d+/== '])
      expect(scheme.read(header)).toEqual({ authorization: 'Bearer a.b-c~d+/==', name: undefined });
  });

  it('leaves tokens of other verifiers, and everything that is not a token, to others', () => {
    for (const header of ['Bearer other', 'Bearer', 'Bearer a b', 'Bearer ä', 'Basic abc', 'Bearerabc', ''])
      expect(scheme.read(header)).toBeUndefined();
    expect(scheme.read('Bearer cut-off')).toBe('malformed');
  });

  it('names an error only if a token was refused, and escapes the realm', () => {
    expect(scheme.challenge('a "b"')).toBe(String.raw`Bearer realm="a \"b\""`);
    for (const refused of ['malformed', 'invalid'] as const)
      expect(scheme.challenge('x', refused)).toBe('Bearer realm="x", error="invalid_token"');
    expect(scheme.insufficient?.('x "y"')).toBe(String.raw`Bearer realm="x \"y\"", error="insufficient_scope"`);
  });
});
