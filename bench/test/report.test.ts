import assert from 'node:assert/strict';
import { test } from 'vitest';
import { toChart } from '../report/chart.ts';
import { toDetails, toSummary } from '../report/markdown.ts';
import { resultsOf, row } from './results-of.ts';

const HIT = {
  hit: [
    row('nginx-cache', 20, 50_000, { configuration: 'listen 127.0.0.1:8123;' }),
    row('portico-hit', 30, 25_000, { configuration: '{ "port": 4711 }' }),
  ],
};

test('a table shows the ratios of Portico over each server', () => {
  const text = toDetails(resultsOf(HIT));
  const line = text.split('\n').find((one) => one.startsWith('| nginx-cache'));
  assert.match(line ?? '', /20\.0 \| 20\.0–20\.0 \| 1\.50 × \| 50,000 \| 50,000–50,000 \| 0\.50 ×/);
});

test('a second table shows the threads, the warm-up and the yardstick', () => {
  const threadsUs = { main: 24, v8: 4.5, pool: 0.8, worker: 0.7, other: 0 };
  const warmUp = { requests: 61_234, seconds: 15, optimizationsPerSecond: 12, complete: false };
  const text = toDetails(resultsOf({ hit: [row('portico-hit', 30, 25_000, { threadsUs, warmUp })] }));
  assert.match(
    text,
    /\| portico-hit \| 24\.0 \| 4\.5 \| 0\.8 \| 0\.7 \| 0\.0 \| 61,234 \| 15\.0 \(not complete\) \| 12\.0 \| 100 \|/,
  );
});

test('the reason for a smaller warm-up is stated', () => {
  const slow = { requests: 8000, reason: 'it is slow' };
  const text = toDetails(resultsOf({ 'miss-distinct': [row('prism', 900, 800, { slow })] }));
  assert.match(text, /^prism has a shorter warm-up of at least 8,000 requests: it is slow\.$/m);
});

test('configurations are shown without port numbers', () => {
  const text = toDetails(resultsOf(HIT));
  assert.match(text, /listen 127\.0\.0\.1:PORT;/);
  assert.match(text, /"port": PORT/);
  assert.doesNotMatch(text, /8123|4711/);
});

test('a failed part is reported before any number', () => {
  const text = toSummary(resultsOf(HIT, { failures: [{ part: 'memory', message: 'no\nmore' }] }), 'results.svg');
  assert.ok(text.indexOf('**memory failed: no**') < text.indexOf('| verdict |'));
  assert.ok(text.includes('**memory failed: no**'));
});

test('the duration of the run is reported', () => {
  assert.match(toSummary(resultsOf({}, { seconds: 1023 }), 'results.svg'), /The run took 17\.1 minutes/);
});

test('a busy machine is reported', () => {
  const { machine } = resultsOf({});
  assert.match(toSummary(resultsOf({}, { machine: { ...machine, busyBefore: 0.4 } }), 'results.svg'), /40% busy/);
});

test('texts are escaped in the chart', () => {
  const chart = toChart(resultsOf({ hit: [row('portico-hit', 10, 1, { label: 'a < b & c' })] }));
  assert.ok(chart.includes('a &lt; b &amp; c'));
});
