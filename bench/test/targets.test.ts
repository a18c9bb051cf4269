import assert from 'node:assert/strict';
import { test } from 'vitest';
import { type LatencyRow, medianOf } from '../measure-latency.ts';
import type { MemoryResult } from '../measure-memory.ts';
import type { Results } from '../results.ts';
import { wantedScenarios } from '../scenarios/all.ts';
import { FULL } from '../scenarios/effort.ts';
import { judgeTargets, TARGETS, type Verdict } from '../targets.ts';
import { resultsOf, row } from './results-of.ts';

function verdict(results: Results, what: RegExp, path = /./): Verdict {
  const found = judgeTargets(results).filter(({ target }) => what.test(target.what) && path.test(target.path));
  assert.equal(found.length, 1);
  return found[0] as Verdict;
}

test('a target without measurements is neither met nor missed', () => {
  const states = judgeTargets(resultsOf({})).map(({ state }) => state);
  assert.deepEqual([...new Set(states)], ['not measured']);
});

test('every goal has a row of its own', () => {
  const names = TARGETS.map(({ path, what }) => `${path}: ${what}`);
  assert.deepEqual([...new Set(names)], names);
});

test('the servers that the goals compare belong to a complete run', () => {
  const scenarios = wantedScenarios(FULL, []);
  const rows = Object.fromEntries(
    scenarios.map(({ id, entries }) => [id, entries.map(({ peer }) => row(peer.id, 1, 1, { encoding: 'gzip' }))]),
  );
  const missing = judgeTargets(resultsOf(rows)).filter(({ state }) => state === 'not measured');
  const parts = new Set(missing.map(({ target }) => target.path));
  assert.deepEqual(
    [...parts],
    ['latency of a hit at half the peak rate', 'memory after 300,000 distinct keys', 'start', 'idle memory', 'warm-up'],
  );
});

test('a hit is compared with tuned nginx by CPU per request', () => {
  const at = (cpuUs: number) => {
    const rows = [row('nginx-cache-tuned', 20, 1), row('nginx-cache', 1, 1), row('portico-hit', cpuUs, 1)];
    return verdict(resultsOf({ hit: rows }), /tuned nginx with cache/);
  };
  assert.equal(at(30).state, 'met');
  const missed = at(60);
  assert.equal(missed.state, 'missed');
  assert.equal(missed.value, 3);
  assert.ok(Math.abs(missed.gap - 1) < 1e-9);
});

test('a gzip hit that is not compressed does not count', () => {
  const at = (encoding: string | undefined) =>
    verdict(
      resultsOf({ 'hit-gzip': [row('nginx-gzip-tuned', 60, 1), row('portico-hit', 20, 1, { encoding })] }),
      /gzip on/,
    );
  assert.equal(at(undefined).state, 'not measured');
  assert.equal(at('gzip').state, 'met');
});

test('enforce and report are judged separately', () => {
  const rows = [row('portico-enforce', 80, 1), row('portico-report', 125, 1), row('http-proxy-middleware', 100, 1)];
  const at = (level: RegExp) => verdict(resultsOf({ 'miss-distinct': rows }), level, /distinct$/);
  assert.equal(at(/http-proxy-middleware.*enforce/).value, 1.25);
  assert.equal(at(/http-proxy-middleware.*report/).value, 0.8);
  assert.equal(at(/http-proxy-middleware.*report/).state, 'missed');
});

test('the growth over keys counts beyond the growth of nginx, and only with 100,000 keys', () => {
  const nginx = [row('nginx-cache-1-key', 10, 1), row('nginx-cache-100-000-keys', 12, 1)];
  const at = (many: string, cpuUs: number) =>
    verdict(
      resultsOf({ keys: [row('portico-hit-1-key', 20, 1), row(many, cpuUs, 1), ...nginx] }),
      /nginx’s own growth/,
    );
  const missed = at('portico-hit-100-000-keys', 30);
  assert.ok(missed.value !== undefined && Math.abs(missed.value - 30) < 1e-9);
  assert.equal(missed.state, 'missed');
  assert.equal(at('portico-hit-100-000-keys', 25).state, 'met');
  assert.equal(at('portico-hit-10-000-keys', 25).state, 'not measured');
});

test('a miss meets its target if its cost is a straight line through the sizes of pages', () => {
  const at = (large: number) =>
    verdict(
      resultsOf({
        'miss-distinct-2k': [row('portico-enforce', 50, 1, { responseBytes: 2000 })],
        'miss-distinct': [row('portico-enforce', 77, 1, { responseBytes: 29_000 })],
        'miss-distinct-200k': [row('portico-enforce', large, 1, { responseBytes: 200_000 })],
      }),
      /straight line/,
    );
  assert.equal(at(248).state, 'met');
  assert.equal(at(200).value, 0);
  assert.equal(at(300).state, 'missed');
});

function memoryResults(more: Partial<MemoryResult>): Results {
  const memory: MemoryResult = {
    keys: 1_000_000,
    budgetBytes: 64e6,
    restBytes: 100e6,
    warmRestBytes: 120e6,
    peakBytes: 210e6,
    endBytes: 200e6,
    lastHalfSlope: 0,
    entries: 20_000,
    cacheBytes: 60e6,
    samples: [],
    ...more,
  };
  return resultsOf({}, { memory });
}

test('memory after many keys is measured beyond warm idle memory', () => {
  const at = (endBytes: number) => verdict(memoryResults({ endBytes }), /beyond warm idle memory/);
  assert.equal(at(220e6).value, 100);
  assert.equal(at(220e6).state, 'met');
  assert.equal(at(230e6).state, 'missed');
});

test('memory is flat if the line through its last half hardly rises; a short run proves nothing', () => {
  const at = (lastHalfSlope: number, keys = 1_000_000) => verdict(memoryResults({ lastHalfSlope, keys }), /last half/);
  assert.equal(at(16e6).state, 'met');
  assert.equal(at(-50e6).value, 0);
  assert.equal(at(30e6).state, 'missed');
  assert.equal(at(30e6, 100_000).state, 'not measured');
});

test('a hit that costs less with many operations meets its target', () => {
  const at = (many: number) => {
    const rows = [row('portico-hit-18-operations', 40, 1), row('portico-hit-500-operations', many, 1)];
    return verdict(resultsOf({ operations: rows }), /operations of the contract/);
  };
  assert.equal(at(30).value, 0);
  assert.equal(at(30).state, 'met');
  assert.equal(at(43).state, 'met');
  assert.equal(at(45).state, 'missed');
});

test('the added latency is the difference to bare node:http, by the medians of the rounds', () => {
  const latencyRow = (peer: string, p99s: readonly number[]): LatencyRow => {
    const rounds = p99s.map((p99) => ({ requests: 1, perSecond: 1, p50: 0.1, p99, p999: 2 * p99, max: 8 * p99 }));
    const { warmUp } = row(peer, 1, 1);
    return { peer, label: peer, peakPerSecond: 2, perSecond: 1, rounds, median: medianOf(rounds), warmUp };
  };
  const latency = [latencyRow('node-http', [0.5, 0.5, 9]), latencyRow('portico-hit', [0.25, 1, 9])];
  const { value, state } = verdict(resultsOf({}, { latency }), /p99 minus/);
  assert.equal(value, 0.5);
  assert.equal(state, 'met');
  assert.equal(verdict(resultsOf({}, { latency }), /longest latency/).value, 8);
});
