import { describe, expect, it } from 'vitest';
import { createRandomHex } from '../../src/telemetry/random-hex.ts';

describe('random hexadecimal digits', () => {
  it('are as many as are asked for', () => {
    const draw = createRandomHex();
    for (const digits of [1, 16, 32, 64]) expect(draw(digits)).toMatch(new RegExp(`^[0-9a-f]{${digits}}$`));
  });

  it('are those of the generator in their order, each given out once', () => {
    let filled = '';
    let next = 0;
    const draw = createRandomHex((bytes) => {
      const pool = Buffer.from(Array.from({ length: bytes }, () => (next += 37) % 256));
      filled += pool.toString('hex');
      return pool;
    });
    let drawn = '';
    for (let times = 0; times < 1000; times += 1) drawn += draw(16);
    expect(drawn).toBe(filled.slice(0, drawn.length));
  });

  it('do not go on with what is left of a pool that is too short', () => {
    let fills = 0;
    const draw = createRandomHex((bytes) => {
      fills += 1;
      return Buffer.alloc(bytes, fills);
    });
    const seen = new Set<string>();
    for (let times = 0; times < 400; times += 1) seen.add(draw(48));
    expect(fills).toBe(3);
    expect([...seen]).toEqual(['01', '02', '03'].map((byte) => byte.repeat(24)));
  });

  it('ask the generator seldom, and do not come twice', () => {
    const fills: number[] = [];
    const draw = createRandomHex((bytes) => {
      fills.push(bytes);
      return crypto.getRandomValues(Buffer.alloc(bytes));
    });
    const seen = new Set(Array.from({ length: 1000 }, () => draw(32)));
    expect(seen.size).toBe(1000);
    expect(fills).toHaveLength(4);
  });
});
