import { describe, expect, it } from 'vitest';
import { createAcceptsGzip } from '../../src/cache/gzip.ts';
import { flatText, heldMemory } from '../builders/held-memory.ts';

const YES = [
  'gzip',
  'GZIP',
  'x-gzip',
  'gzip, deflate, br',
  'br;q=1.0, gzip;q=0.8, *;q=0.1',
  'deflate,gzip;q=0.001',
  ' gzip ; q=0.5 ',
  'gzip;Q=1.000',
  '*',
  'br, *;q=0.5',
  '*;q=0, gzip',
  'identity, gzip',
];
const NO = [
  '',
  'identity',
  'br, deflate',
  'gzip;q=0',
  'gzip;q=0.000',
  'gzip;q=0., br',
  'gzip;q=0, *',
  '*, gzip;q=0',
  '*;q=0',
  'gzipped',
  'xgzip',
  'x-gzipp',
  'gzip;level=1',
  'gzip q=1',
  'not gzip',
  ',,,',
];

describe('a client accepts gzip', () => {
  const accepts = createAcceptsGzip();

  it.each(YES)('with Accept-Encoding: %s', (text) => {
    expect(accepts(text)).toBe(true);
    expect(accepts(text)).toBe(true);
  });

  it.each(NO)('and not with Accept-Encoding: %s', (text) => {
    expect(accepts(text)).toBe(false);
    expect(accepts(text)).toBe(false);
  });

  it('never without the header', () => {
    expect(accepts(undefined)).toBe(false);
  });

  it('never with an overlong header', () => {
    expect(accepts(`gzip,${' '.repeat(994)}`)).toBe(true);
    expect(accepts(`gzip,${' '.repeat(996)}`)).toBe(false);
  });

  // A client that sends a different value with each request could otherwise fill the memory.
  it('without memory that grows with every distinct value', async () => {
    const many = createAcceptsGzip();
    const held = await heldMemory(() => {
      for (let number = 0; number < 20_000; number += 1) many(flatText(number));
    });
    expect(held).toBeLessThan(5_000_000);
    expect(many('gzip')).toBe(true);
  });

  it('consistently after more values than are cached', () => {
    const many = createAcceptsGzip();
    for (let number = 0; number < 500; number += 1) {
      expect(many(`gzip;q=0, x${number}`)).toBe(false);
      expect(many(`gzip, x${number}`)).toBe(true);
    }
    for (const text of YES) expect(many(text)).toBe(true);
    for (const text of NO) expect(many(text)).toBe(false);
  });
});
