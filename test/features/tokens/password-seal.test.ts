import { describe, expect, it } from 'vitest';
import { createPasswordSeal } from '../../../src/features/tokens/password-seal.ts';
import { keyText } from './token-gateway.ts';

describe('the seal of a password', () => {
  it('is opened only with its key, for its token, and unchanged', () => {
    const seal = createPasswordSeal([keyText('one')]);
    const sealed = seal?.seal('a'.repeat(16), 'pässword') ?? '';
    expect(seal?.open('a'.repeat(16), sealed)).toEqual({ password: 'pässword', isCurrent: true });
    expect(seal?.open('b'.repeat(16), sealed)).toBeUndefined();
    expect(createPasswordSeal([keyText('two')])?.open('a'.repeat(16), sealed)).toBeUndefined();
    const bytes = Buffer.from(sealed, 'base64');
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(seal?.open('a'.repeat(16), changed.toString('base64'))).toBeUndefined();
    }
    expect(seal?.open('a'.repeat(16), '')).toBeUndefined();
    expect(seal?.seal('a'.repeat(16), 'pässword')).not.toBe(sealed);
  });

  it('is opened with the previous key, too, and then known not to be current', () => {
    const old = createPasswordSeal([keyText('one')])?.seal('a'.repeat(16), 'x') ?? '';
    const both = createPasswordSeal([keyText('two'), keyText('one')]);
    expect(both?.open('a'.repeat(16), old)).toEqual({ password: 'x', isCurrent: false });
  });

  it('does not exist without a key', () => expect(createPasswordSeal([])).toBeUndefined());
});
