import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { measureRequestFiles, readSources, requestFileLimits } from '../tools/structure.ts';

const sources = readSources(join(import.meta.dirname, '..', 'src'));

/** Returns the advice shown when a limit is exceeded. */
const advice = (files: readonly string[]) =>
  `a newcomer has to read these files to follow a request. Move code into fewer files, or raise the limit in tools/structure.ts and state the reason in docs/architecture.md:\n${files.join('\n')}`;

// The most important files whose code runs for both hits and misses, and those whose code runs only for misses.
const BOTH = ['http/write-reply.ts', 'pipeline/dispatch.ts', 'cache/page-cache.ts', 'telemetry/logs.ts'];
const MISS = ['contract/compile/check-response.ts', 'upstream/create-upstream.ts'];

describe('the source files that a request passes through', () => {
  const { hit, miss } = measureRequestFiles();

  it('are few for a cache hit and for a cache miss', () => {
    const limits = requestFileLimits(sources);
    expect(hit.length, advice(hit)).toBeLessThanOrEqual(limits.hit);
    expect(miss.length, advice(miss)).toBeLessThanOrEqual(limits.miss);
  });

  it('may include the file of a new stage', () => {
    const { hit: maxHit, miss: maxMiss } = requestFileLimits(sources);
    const limits = requestFileLimits([...sources, { path: 'pipeline/stages/planted.ts' }]);
    expect(limits).toEqual({ hit: maxHit + 1, miss: maxMiss + 1 });
  });

  it('are as few as docs/architecture.md states', () => {
    const { hit: maxHit, miss: maxMiss } = requestFileLimits([]);
    const page = readFileSync(join(import.meta.dirname, '..', 'docs', 'architecture.md'), 'utf8').replaceAll('\n', ' ');
    expect(page).toContain(
      `at most ${maxHit} files and a validated miss through at most ${maxMiss}, plus one file for`,
    );
  });

  it('include the main files of every layer on the path', () => {
    expect(hit).toEqual(expect.arrayContaining(BOTH));
    expect(miss).toEqual(expect.arrayContaining([...BOTH, ...MISS]));
  });

  it('include only files of the gateway', () => {
    expect([...hit, ...miss].filter((path) => /^(?:reference|cli|console|walk)\//.test(path))).toEqual([]);
  });
});
