import assert from 'node:assert/strict';
import { test } from 'vitest';
import type { Results } from '../results.ts';
import { judgeTargets, type Verdict } from '../targets.ts';
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

test('a hit is compared with nginx by CPU time', () => {
  const at = (cpuUs: number) =>
    verdict(resultsOf({ hit: [row('nginx-cache', 20, 1), row('portico-hit', cpuUs, 1)] }), /over nginx proxy_cache/);
  assert.equal(at(20).state, 'holds');
  const missed = at(25);
  assert.equal(missed.state, 'missed');
  assert.equal(missed.value, 1.25);
  assert.ok(Math.abs(missed.gap - 0.25) < 1e-9);
});

test('a gzip hit that is not compressed does not count', () => {
  const at = (encoding: string | undefined) =>
    verdict(
      resultsOf({ 'hit-gzip': [row('nginx-gzip', 1, 100), row('portico-hit', 1, 500, { encoding })] }),
      /gzip on/,
    );
  assert.equal(at(undefined).state, 'not measured');
  assert.equal(at('gzip').state, 'holds');
});

test('the slower of enforce and report counts', () => {
  const rows = [row('portico-enforce', 1, 200), row('portico-report', 1, 90), row('http-proxy-middleware', 1, 100)];
  const { value, state } = verdict(resultsOf({ 'miss-distinct': rows }), /http-proxy-middleware/, /distinct/);
  assert.equal(value, 0.9);
  assert.equal(state, 'missed');
});

test('the cost of checking is shown beside the same page parsed but not checked', () => {
  const rows = [row('portico-report', 1, 94), row('portico-responses-off', 1, 100)];
  const { value, state } = verdict(resultsOf({ 'miss-distinct': rows }), /responses off/);
  assert.equal(value, 0.94);
  assert.equal(state, 'missed');
});

test('no cost is shown with only one of enforce and report', () => {
  const rows = [row('portico-enforce', 1, 200), row('http-proxy-middleware', 1, 100)];
  assert.equal(
    verdict(resultsOf({ 'miss-distinct': rows }), /http-proxy-middleware/, /distinct/).state,
    'not measured',
  );
});

test('the row that differs most from one key counts, up or down, and other servers do not', () => {
  const keys = [row('portico-1', 20, 1), row('portico-1000', 17, 1), row('portico-100000', 21, 1), row('nginx', 99, 1)];
  const { value, state } = verdict(resultsOf({ keys }), /many keys/);
  assert.ok(value !== undefined && Math.abs(value - 15) < 1e-9);
  assert.equal(state, 'missed');
});

test('a miss meets its target if its cost grows linearly with the page size', () => {
  const at = (large: number) =>
    verdict(
      resultsOf({
        'miss-distinct-2k': [row('portico-enforce', 50, 1, { answerBytes: 2000 })],
        'miss-distinct': [row('portico-enforce', 77, 1, { answerBytes: 29_000 })],
        'miss-distinct-200k': [row('portico-enforce', large, 1, { answerBytes: 200_000 })],
      }),
      /straight line/,
    );
  assert.equal(at(248).state, 'holds');
  assert.equal(at(200).value, 0);
  assert.equal(at(300).state, 'missed');
});

test('memory counts as flat if it hardly rises over the last half; a short run proves nothing', () => {
  const at = (lastHalfSlope: number, keys = 1_000_000) =>
    verdict(
      resultsOf(
        {},
        {
          memory: {
            keys,
            budgetBytes: 64e6,
            restBytes: 100e6,
            warmRestBytes: 120e6,
            peakBytes: 210e6,
            endBytes: 200e6,
            lastHalfSlope,
            entries: 20_000,
            cacheBytes: 60e6,
            samples: [],
          },
        },
      ),
      /last half/,
    );
  assert.equal(at(16e6).state, 'holds');
  assert.equal(at(-50e6).value, 0);
  assert.equal(at(30e6).state, 'missed');
  assert.equal(at(30e6, 100_000).state, 'not measured');
});
