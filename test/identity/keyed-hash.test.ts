import { describe, expect, it } from 'vitest';
import { createKeyedHash } from '../../src/identity/keyed-hash.ts';

describe('the keyed hash', () => {
  it('is the same for the same texts under the same key only', () => {
    const key = Buffer.alloc(32, 1);
    expect(createKeyedHash(key)('a', 'b')).toBe(createKeyedHash(key)('a', 'b'));
    expect(createKeyedHash()('a', 'b')).not.toBe(createKeyedHash()('a', 'b'));
  });

  it('does not take one list of texts for another', () => {
    const hash = createKeyedHash();
    const lists = [['ab', 'c'], ['a', 'bc'], ['abc'], ['a', 'b', 'c'], ['1:a', ''], ['', '1:a']];
    expect(new Set(lists.map((list) => hash(...list))).size).toBe(lists.length);
  });
});
