import { describe, expect, it } from 'vitest';
import { MODES } from '../../../src/engine/model/modes.ts';
import { comparisonTrace, createTrace, type Trace } from '../../../src/engine/model/trace.ts';
import type { Violation } from '../../../src/engine/model/violation.ts';
import {
  contractDifferences,
  createShadowWatch,
  type ShadowWatchParts,
} from '../../../src/features/shadow-contract/shadow-watch.ts';
import { contract } from '../../engine/contract/sample.ts';

describe('the comparison with a shadow contract', () => {
  const ARRIVAL = { method: 'GET', path: '/services/v2/question.json', query: 'page=x' };
  const trace = () => createTrace({ requestId: 'r', traceparent: '', method: 'GET', startedAt: 1_000 });

  /**
   * Creates a comparison that runs when the test calls `run`. Its shadow contract accepts what the live contract
   * refuses.
   */
  function watchWith(more: Partial<ShadowWatchParts> = {}) {
    const found: Trace[] = [];
    let dropped = 0;
    const work: (() => void)[] = [];
    const watch = createShadowWatch({
      live: contract,
      shadow: {
        ...contract,
        decodeParameters: (...asked) => ({ ...contract.decodeParameters(...asked), violations: [] }),
      },
      checksFor: () => MODES.strict.checks,
      maxCollected: 20,
      later: (job) => void work.push(job),
      found: (request, differences) => void found.push(comparisonTrace(request, differences)),
      dropped: () => (dropped += 1),
      ...more,
    });
    const run = () => {
      for (let job = work.shift(); job !== undefined; job = work.shift()) job();
    };
    return { watch, found, work, run, dropped: () => dropped };
  }

  it('runs after the response, as separate work, and reports the differences for the request', () => {
    const { watch, found, work, run } = watchWith();
    const request = Object.assign(trace(), { operation: 'listQuestions', caller: 'alice' });
    watch.requestReceived(request, ARRIVAL);
    expect(work).toEqual([]);
    watch.requestFinished(request);
    expect([work.length, found.length]).toEqual([1, 0]);
    run();
    expect(found).toMatchObject([
      {
        requestId: 'r',
        operation: 'listQuestions',
        caller: 'alice',
        background: true,
        violations: [{ candidate: 'newly-accepted', at: 'page' }],
      },
    ]);
    expect(request.violations).toEqual([]);
    watch.requestFinished(request);
    run();
    expect(found).toHaveLength(1);
  });

  it('drops excess work, by number and by bytes, and reports how often', () => {
    const { watch, found, run, dropped } = watchWith();
    for (let count = 0; count < 300; count++) {
      const request = trace();
      watch.requestReceived(request, ARRIVAL);
      watch.requestFinished(request);
    }
    expect(dropped()).toBe(44);
    run();
    expect(found).toHaveLength(256);
    const large = trace();
    watch.responseReceived(
      large,
      ARRIVAL,
      { status: 200, mediaType: 'application/json', bytes: Buffer.alloc(17 * 1024 * 1024) },
      {},
    );
    watch.requestFinished(large);
    expect(dropped()).toBe(45);
  });

  it.each([
    ['hit', 0],
    ['stale', 0],
    ['miss', 1],
  ] as const)('compares a request that met the cache with %s that many times: %s', (status, times) => {
    const { watch, found, run } = watchWith();
    const request = Object.assign(trace(), { cache: { status } });
    watch.requestReceived(request, ARRIVAL);
    watch.requestFinished(request);
    run();
    expect(found).toHaveLength(times);
  });

  it('reports nothing for checks that are off', () => {
    const { checks } = MODES.strict;
    const { watch, found, run } = watchWith({ checksFor: () => ({ ...checks, requests: 'off' }) });
    const request = trace();
    watch.requestReceived(request, ARRIVAL);
    watch.requestFinished(request);
    run();
    expect(found).toEqual([]);
  });

  it('survives a shadow contract that fails, and continues', () => {
    let calls = 0;
    const { watch, found, run, dropped } = watchWith({
      shadow: {
        ...contract,
        match: (path) => {
          calls += 1;
          if (calls === 1) throw new Error('broken');
          return contract.match(path);
        },
        decodeParameters: (...asked) => ({ ...contract.decodeParameters(...asked), violations: [] }),
      },
    });
    for (const request of [trace(), trace()]) {
      watch.requestReceived(request, ARRIVAL);
      watch.requestFinished(request);
    }
    run();
    expect([dropped(), found.length]).toEqual([1, 1]);
  });
});

describe('the differences between the verdicts of two contracts', () => {
  const at = (place: string, schemaPath = 'a'): Violation => ({
    check: 'responses',
    direction: 'response',
    category: 'type',
    location: 'body',
    at: place,
    keyword: 'type',
    schemaPath,
    message: '',
  });
  const findings = (violations: readonly Violation[], reported: readonly Violation[] = [], more = false) => ({
    violations,
    reported,
    more,
  });
  const short = (found: readonly Violation[]) => found.map(({ at: place, candidate }) => `${place} ${candidate ?? ''}`);

  it('are the violations that only one of them finds', () => {
    expect(short(contractDifferences(findings([at('/a'), at('/b')]), findings([at('/b'), at('/c')])))).toEqual([
      '/c newly-refused',
      '/a newly-accepted',
    ]);
  });

  it('do not include where in the contract a violation is found', () => {
    expect(contractDifferences(findings([at('/a', 'one')]), findings([at('/a', 'two')]))).toEqual([]);
  });

  it('include that counted violations would be refused, and the reverse', () => {
    expect(short(contractDifferences(findings([], [at('/a')]), findings([at('/a')])))).toEqual(['/a newly-refused']);
    expect(short(contractDifferences(findings([at('/a')]), findings([], [at('/a')])))).toEqual(['/a newly-accepted']);
    expect(short(contractDifferences(findings([], [at('/a')]), findings([])))).toEqual(['/a newly-accepted']);
    expect(short(contractDifferences(findings([]), findings([], [at('/a')])))).toEqual(['/a newly-refused']);
  });

  it('leave out violations that were not collected', () => {
    expect(short(contractDifferences(findings([at('/a')], [], true), findings([at('/b')])))).toEqual([
      '/a newly-accepted',
    ]);
    expect(short(contractDifferences(findings([at('/a')]), findings([at('/b')], [], true)))).toEqual([
      '/b newly-refused',
    ]);
  });

  it('do not modify their inputs', () => {
    const one = Object.freeze(at('/a'));
    contractDifferences(findings([one]), findings([]));
    expect(one.candidate).toBeUndefined();
  });
});
