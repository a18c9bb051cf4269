import assert from 'node:assert/strict';
import { test } from 'vitest';
import { createCpuTime, exactNs, hasExactCpuTime, ticksNs } from '../cpu-time.ts';

test('the first number of schedstat is the CPU time', () => {
  assert.equal(exactNs('123456789 42 7\n'), 123_456_789);
});

test('a thread that has just ended has an unknown time, which differs from zero', () => {
  assert.equal(exactNs(undefined), undefined);
  assert.equal(exactNs(''), undefined);
});

test('ticks are found after a name that contains spaces and parentheses', () => {
  assert.equal(ticksNs('7 (a (b) c) S 1 7 7 0 -1 4194560 1 0 0 0 12 3 0 0 20 0 1'), 150_000_000);
  assert.equal(ticksNs(undefined), undefined);
});

test('the time of a thread is still counted after the thread has ended', { skip: !hasExactCpuTime }, () => {
  let texts = '5000 0 0';
  const cpuTime = createCpuTime((path) => (path.endsWith('/schedstat') ? texts : undefined));
  const before = cpuTime([process.pid]);
  texts = '';
  assert.ok(before >= 5000);
  assert.equal(cpuTime([process.pid]), before);
});
