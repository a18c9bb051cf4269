import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFailureLimiter } from '../../src/identity/failure-limiter.ts';
import { START } from './identity-fixtures.ts';

describe('the failure limiter', () => {
  it('never lets more attempts fail within any window than the limit, and lets one through after the wait it names', () => {
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
          const refused = limiter.begin('pair', now);
          const recent = admitted.filter((at) => at > now - 30_000);
          expect(refused === undefined).toBe(recent.length < limit);
          if (refused === undefined) admitted.push(now);
          else expect(refused.retryAfterSeconds).toBe(Math.ceil(((recent[0] ?? 0) + 30_000 - now) / 1000));
        }
      }),
    );
  });

  it('takes back one attempt that did not fail, not the others', () => {
    const limiter = createFailureLimiter({ limit: 2, windowSeconds: 30, maxPairs: 10 });
    limiter.begin('pair', START);
    limiter.begin('pair', START + 1);
    limiter.withdraw('pair', START + 1);
    expect(limiter.begin('pair', START + 2)).toBeUndefined();
    expect(limiter.begin('pair', START + 3)).toEqual({ retryAfterSeconds: 30 });
  });

  it('remembers no more pairs than it may, the least recently tried go first', () => {
    const limiter = createFailureLimiter({ limit: 1, windowSeconds: 3600, maxPairs: 3 });
    for (const pair of ['a', 'b', 'c']) limiter.begin(pair, START);
    limiter.begin('a', START + 1);
    limiter.begin('d', START + 2);
    expect(limiter.begin('a', START + 3)).toBeDefined();
    expect(limiter.begin('b', START + 3)).toBeUndefined();
  });
});
