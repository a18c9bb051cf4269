import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import { untilSignal } from '../../src/cli/until-signal.ts';

function watched(instants: number[]) {
  const source = new EventEmitter();
  let again = 0;
  const first = untilSignal(
    source,
    () => instants.shift() ?? 0,
    () => (again += 1),
  );
  return { source, first, again: () => again };
}

it('the first signal resolves, and a second one, some time later, is told', async () => {
  const { source, first, again } = watched([1000, 2000]);
  source.emit('SIGTERM');
  await first;
  expect(again()).toBe(0);
  source.emit('SIGINT');
  expect(again()).toBe(1);
});

it('the echo of a signal, passed on by a package runner, is not a second one', async () => {
  const { source, first, again } = watched([1000, 1003]);
  source.emit('SIGINT');
  await first;
  source.emit('SIGINT');
  expect(again()).toBe(0);
});
