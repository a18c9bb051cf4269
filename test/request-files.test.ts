import { describe, expect, it } from 'vitest';
import { measureRequestFiles } from '../tools/structure.ts';

// Whoever follows a request through the sources has to read these files. A limit may only go down.
const MAX_HIT = 36;
const MAX_MISS = 66;

// What a hit and a miss enter alike, and what only a miss enters.
const BOTH = ['http/write-reply.ts', 'pipeline/dispatch.ts', 'cache/page-cache.ts', 'telemetry/access-log.ts'];
const MISS = ['contract/compile/check-response.ts', 'upstream/create-upstream.ts'];

describe('the files of the sources that a request enters', () => {
  const { hit, miss } = measureRequestFiles();

  it('are few for a cache hit and for a cache miss', () => {
    expect(hit.length, hit.join('\n')).toBeLessThanOrEqual(MAX_HIT);
    expect(miss.length, miss.join('\n')).toBeLessThanOrEqual(MAX_MISS);
  });

  it('include every layer of the path, so that nothing is left out of the count', () => {
    expect(hit).toEqual(expect.arrayContaining(BOTH));
    expect(miss).toEqual(expect.arrayContaining([...BOTH, ...MISS]));
  });

  it('are those of the gateway alone', () => {
    expect([...hit, ...miss].filter((path) => /^(?:reference|cli|console|walk)\//.test(path))).toEqual([]);
  });
});
