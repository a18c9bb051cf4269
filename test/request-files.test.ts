import { describe, expect, it } from 'vitest';
import { measureRequestFiles } from '../tools/structure.ts';

// The files that a newcomer has to read to follow a request through the sources. A limit may only decrease.
const MAX_HIT = 30;
const MAX_MISS = 62;

// The files that both a hit and a miss enter, and those that only a miss enters.
const BOTH = ['http/write-reply.ts', 'pipeline/dispatch.ts', 'cache/page-cache.ts', 'telemetry/logs.ts'];
const MISS = ['contract/compile/check-response.ts', 'upstream/create-upstream.ts'];

describe('the source files that a request enters', () => {
  const { hit, miss } = measureRequestFiles();

  it('are few for a cache hit and for a cache miss', () => {
    expect(hit.length, hit.join('\n')).toBeLessThanOrEqual(MAX_HIT);
    expect(miss.length, miss.join('\n')).toBeLessThanOrEqual(MAX_MISS);
  });

  it('include every layer of the path, so that none is missing from the count', () => {
    expect(hit).toEqual(expect.arrayContaining(BOTH));
    expect(miss).toEqual(expect.arrayContaining([...BOTH, ...MISS]));
  });

  it('include only files of the gateway', () => {
    expect([...hit, ...miss].filter((path) => /^(?:reference|cli|console|walk)\//.test(path))).toEqual([]);
  });
});
