import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { test } from 'vitest';
import { createCpuTimes, exactNs, hasExactCpuTime, threadGroup, ticksNs, totalOf } from '../cpu-time.ts';

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
  const read = createCpuTimes((path) => (path.endsWith('/schedstat') ? texts : undefined));
  const before = totalOf(read([process.pid]));
  texts = '';
  assert.ok(before >= 5000);
  assert.equal(totalOf(read([process.pid])), before);
});

test('threads are grouped by the names that Node, V8 and libuv give them', () => {
  assert.equal(threadGroup(true, 'node-MainThread'), 'main');
  assert.equal(threadGroup(false, 'node-V8Worker\n'), 'v8');
  assert.equal(threadGroup(false, 'DelayedTaskSche\n'), 'v8');
  assert.equal(threadGroup(false, 'libuv-worker\n'), 'pool');
  assert.equal(threadGroup(false, 'SignalInspector\n'), 'other');
  assert.equal(threadGroup(false, undefined), 'other');
});

test('the time of a process is split by its threads', { skip: !hasExactCpuTime }, () => {
  let others = 0;
  const read = createCpuTimes((path) => {
    if (path.endsWith('/schedstat')) return '1000 0 0';
    if (!path.endsWith(`/task/${process.pid}/comm`)) others += 1;
    return 'libuv-worker';
  });
  const { main, pool } = read([process.pid]);
  assert.equal(main, 1000);
  assert.equal(pool, others * 1000);
});

test('a worker thread of Node is recognized', { skip: !hasExactCpuTime }, async () => {
  const worker = new Worker('require("node:worker_threads").parentPort.once("message", () => {})', { eval: true });
  await once(worker, 'online');
  const { worker: ns } = createCpuTimes()([process.pid]);
  await worker.terminate();
  assert.ok(ns > 0);
});
