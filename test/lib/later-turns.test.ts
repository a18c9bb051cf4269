import { spawnSync } from 'node:child_process';
import { stat } from 'node:fs';
import { expect, it } from 'vitest';
import { createLaterTurns, createSlices } from '../../src/lib/later-turns.ts';

/** Counts the turns of the event loop, in whose last phase immediates run. */
function countTurns() {
  const counter = { turns: 0, stop: () => clearImmediate(running) };
  let running = setImmediate(function count() {
    counter.turns += 1;
    running = setImmediate(count);
  });
  return counter;
}

it('runs each step in a turn of the event loop of its own, and none in the turn that added it', async () => {
  const counter = countTurns();
  const { promise, resolve } = Promise.withResolvers<void>();
  const turns = createLaterTurns();
  const ran: number[] = [];
  // This callback runs before the immediates of its turn, as those of sockets do, so its turn is counted after it.
  stat(import.meta.filename, () => {
    const current = counter.turns + 1;
    for (let step = 0; step < 3; step += 1) turns.add(() => void ran.push(counter.turns - current));
    turns.add(resolve);
  });
  await promise;
  counter.stop();
  expect(ran[0]).toBeGreaterThan(0);
  expect(new Set(ran).size).toBe(3);
});

it('can run all steps at once, including those that they add', () => {
  const turns = createLaterTurns();
  const ran: string[] = [];
  turns.add(() => {
    ran.push('first');
    turns.add(() => void ran.push('third'));
  });
  turns.add(() => void ran.push('second'));
  turns.runAll();
  expect(ran).toEqual(['first', 'second', 'third']);
});

it('does not wait for anything else to happen in the process', () => {
  const script = `
    import { createLaterTurns, createSlices } from ${JSON.stringify(new URL('../../src/lib/later-turns.ts', import.meta.url).href)};
    createLaterTurns().add(() => process.stdout.write('done'));`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' });
  expect(stdout).toBe('done');
});

it('lets other work run between the steps of a long work, as soon as they have taken a while', async () => {
  let now = 0;
  const slice = createSlices(() => now);
  const counter = countTurns();
  const turnsDuring = async (ms: number) => {
    const before = counter.turns;
    now += ms;
    await slice();
    return counter.turns - before;
  };
  expect(await turnsDuring(0.2)).toBe(0);
  expect(await turnsDuring(0.4)).toBeGreaterThan(0);
  expect(await turnsDuring(0.4)).toBe(0);
  counter.stop();
});
