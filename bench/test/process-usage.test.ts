import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { createCpuTime, exactNs, rssBytes, ticksNs, treeOf } from '../process-usage.ts';

test('the first number of schedstat is the CPU time, and a thread that has just ended has none', () => {
  expect(exactNs('123456789 42 7\n')).toBe(123_456_789);
  expect([exactNs(''), exactNs(undefined)]).toEqual([undefined, undefined]);
});

test('ticks are found after a name that contains spaces and parentheses', () => {
  expect(ticksNs('7 (a (b) c) S 1 7 7 0 -1 4194560 1 0 0 0 12 3 0 0 20 0 1')).toBe(150_000_000);
  expect(ticksNs(undefined)).toBeUndefined();
});

test('the time of a thread is still counted after the thread has ended', () => {
  const stat = '7 (a) S 1 7 7 0 -1 4194560 1 0 0 0 12 3 0 0 20 0 1';
  let hasEnded = false;
  const read = (path: string) => (hasEnded ? '' : path.endsWith('/schedstat') ? '5000 0 0' : stat);
  const cpuTime = createCpuTime(read);
  const before = cpuTime([process.pid]);
  hasEnded = true;
  expect(before).toBeGreaterThanOrEqual(5000);
  expect(cpuTime([process.pid])).toBe(before);
});

test('the time of a process includes that of its threads', async () => {
  const cpuTime = createCpuTime();
  const before = cpuTime([process.pid]);
  const worker = new Worker('for (const end = Date.now() + 30; Date.now() < end; );', { eval: true });
  await once(worker, 'exit');
  expect(cpuTime([process.pid])).toBeGreaterThan(before);
});

test('a process tree begins with its root, and its memory can be read', () => {
  expect(treeOf(process.pid)[0]).toBe(process.pid);
  expect(rssBytes([process.pid])).toBeGreaterThan(1e6);
});
