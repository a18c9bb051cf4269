import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFailureLimiter } from '../../src/identity/failure-limiter.ts';
import { START } from './identity-fixtures.ts';

describe('the failure limiter', () => {
  it('never lets more attempts fail within any window than the limit, and admits one after the announced wait', () => {
    const gaps = fc.array(
      fc.integer({ min: 0, max: 4 }).map((tens) => tens * 10_000),
      { maxLength: 80 },
    );
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), gaps, (limit, steps) => {
        const limiter = createFailureLimiter({ limit, windowSeconds: 30, maxPairs: 10 });
        const admitted: number[] = [];
        let now = START;
        for (const step of steps) {
          now += step;
          const refused = limiter.begin('home', 'alice', now);
          const recent = admitted.filter((at) => at > now - 30_000);
          expect(refused === undefined).toBe(recent.length < limit);
          if (refused === undefined) admitted.push(now);
          else expect(refused.retryAfterSeconds).toBe(Math.ceil(((recent[0] ?? 0) + 30_000 - now) / 1000));
        }
      }),
    );
  });

  it('removes a single attempt that did not fail', () => {
    const limiter = createFailureLimiter({ limit: 2, windowSeconds: 30, maxPairs: 10 });
    limiter.begin('home', 'alice', START);
    limiter.begin('home', 'alice', START + 1);
    limiter.withdraw('home', 'alice', START + 1);
    expect(limiter.begin('home', 'alice', START + 2)).toBeUndefined();
    expect(limiter.begin('home', 'alice', START + 3)).toEqual({ retryAfterSeconds: 30 });
  });

  it('bounds the number of pairs and drops the least recently used first', () => {
    const limiter = createFailureLimiter({ limit: 1, windowSeconds: 3600, maxPairs: 3 });
    for (const pair of ['a', 'b', 'c']) limiter.begin(pair, 'alice', START);
    limiter.begin('a', 'alice', START + 1);
    limiter.begin('d', 'alice', START + 2);
    expect(limiter.begin('a', 'alice', START + 3)).toBeDefined();
    expect(limiter.begin('b', 'alice', START + 3)).toBeUndefined();
  });

  // The attack: one address fails under thousands of made-up names, until the table contains only its own pairs.
  describe('with made-up names from one network', () => {
    const options = { limit: 2, windowSeconds: 60, maxPairs: 640 };
    const sprayed = (limiter: ReturnType<typeof createFailureLimiter>, network: string, count: number, now = START) =>
      Array.from({ length: count }, (_, index) => limiter.begin(network, `name-${index}`, now)).filter(
        (refused) => refused === undefined,
      ).length;

    it('lets that network fail under its share of names only, and admits all others', () => {
      const limiter = createFailureLimiter(options);
      expect(sprayed(limiter, 'flood', 5_000)).toBe(20);
      expect(limiter.begin('flood', 'alice', START)).toEqual({ retryAfterSeconds: 60 });
      expect(limiter.begin('home', 'alice', START)).toBeUndefined();
    });

    it('keeps the counts of other networks and of this one, so that spraying permits no further guesses', () => {
      const limiter = createFailureLimiter(options);
      for (const network of ['home', 'flood']) for (const at of [1, 2]) limiter.begin(network, 'alice', START + at);
      sprayed(limiter, 'flood', 5_000, START + 3);
      for (const network of ['home', 'flood']) expect(limiter.begin(network, 'alice', START + 4)).toBeDefined();
    });

    it('accepts new names again when the first ones expire', () => {
      const limiter = createFailureLimiter(options);
      sprayed(limiter, 'flood', 20);
      expect(limiter.begin('flood', 'new', START + 59_000)).toEqual({ retryAfterSeconds: 1 });
      expect(limiter.begin('flood', 'new', START + 60_000)).toBeUndefined();
    });

    it('does not count successful names towards the share', () => {
      const limiter = createFailureLimiter(options);
      limiter.begin('office', 'mistyped', START);
      for (let index = 0; index < 500; index += 1) {
        expect(limiter.begin('office', `name-${index}`, START)).toBeUndefined();
        limiter.withdraw('office', `name-${index}`, START);
      }
    });
  });
});
