import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatPhcHash, parsePhcHash } from '../../../src/engine/identity/password-hash.ts';

const bytes = (min: number, max: number) =>
  fc.uint8Array({ minLength: min, maxLength: max }).map((array) => Buffer.from(array));

describe('the PHC text of an argon2id hash', () => {
  it('is read back as it was written', () => {
    const hashes = fc.record({
      memory: fc.integer({ min: 128, max: 1_048_576 }),
      passes: fc.integer({ min: 1, max: 20 }),
      parallelism: fc.integer({ min: 1, max: 16 }),
      salt: bytes(8, 64),
      tag: bytes(16, 64),
    });
    fc.assert(
      fc.property(hashes, (hash) => {
        expect(parsePhcHash(formatPhcHash(hash))).toEqual(hash);
      }),
    );
  });

  const salt = 'c2FsdHNhbHRzYWx0c2FsdA';
  const tag = 'dGFndGFndGFndGFndGFndGFndGFndGFndGFndGFndGE';

  it('is read in its usual form', () => {
    expect(parsePhcHash(`$argon2id$v=19$m=19456,t=2,p=1$${salt}$${tag}`)).toMatchObject({ memory: 19_456, passes: 2 });
  });

  it.each([
    ['the least memory for its lanes', 'm=8,t=1,p=1'],
    ['the least memory for the most lanes', 'm=128,t=1,p=16'],
    ['the most memory and passes', 'm=1048576,t=20,p=16'],
  ])('is accepted with %s', (_, costs) => {
    expect(parsePhcHash(`$argon2id$v=19$${costs}$${salt}$${tag}`)).toBeDefined();
  });

  it.each([
    ['another algorithm', `$argon2i$v=19$m=19456,t=2,p=1$${salt}$${tag}`],
    ['another version', `$argon2id$v=16$m=19456,t=2,p=1$${salt}$${tag}`],
    ['one KiB less than its lanes need', `$argon2id$v=19$m=127,t=2,p=16$${salt}$${tag}`],
    ['one KiB more than a machine should give', `$argon2id$v=19$m=1048577,t=2,p=1$${salt}$${tag}`],
    ['one pass too many', `$argon2id$v=19$m=19456,t=21,p=1$${salt}$${tag}`],
    ['one lane too many', `$argon2id$v=19$m=19456,t=2,p=17$${salt}$${tag}`],
    ['leading text', ` $argon2id$v=19$m=19456,t=2,p=1$${salt}$${tag}`],
    ['too little memory for its lanes', `$argon2id$v=19$m=15,t=2,p=2$${salt}$${tag}`],
    ['more memory than a machine should give', `$argon2id$v=19$m=2000000,t=2,p=1$${salt}$${tag}`],
    ['no pass', `$argon2id$v=19$m=19456,t=0,p=1$${salt}$${tag}`],
    ['too many passes', `$argon2id$v=19$m=19456,t=99,p=1$${salt}$${tag}`],
    ['no lane', `$argon2id$v=19$m=19456,t=2,p=0$${salt}$${tag}`],
    ['a short salt', `$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$${tag}`],
    ['a short hash', `$argon2id$v=19$m=19456,t=2,p=1$${salt}$dGFn`],
    ['trailing text', `$argon2id$v=19$m=19456,t=2,p=1$${salt}$${tag} `],
    ['a plaintext password', 'secret'],
  ])('is rejected with %s', (_, text) => {
    expect(parsePhcHash(text)).toBeUndefined();
  });
});
