import { describe, expect, it } from 'vitest';
import { createWorkGate } from '../../../src/engine/identity/work-gate.ts';

describe('the work gate', () => {
  const HOME = '192.0.2.1';
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  /** Creates tasks that run until the test ends them, and records the order in which they start. */
  function tasks() {
    const began: string[] = [];
    const ends = new Map<string, PromiseWithResolvers<string>>();
    const task = (name: string) => () => {
      const end = Promise.withResolvers<string>();
      began.push(name);
      ends.set(name, end);
      return end.promise;
    };
    const end = async (name: string) => {
      ends.get(name)?.resolve(name);
      await settled();
    };
    const fail = async (name: string) => {
      ends.get(name)?.reject(new Error(name));
      await settled();
    };
    return { began, task, end, fail };
  }

  it('runs a limited number of concurrent tasks, and the others in order', async () => {
    const { began, task, end } = tasks();
    const gate = createWorkGate({ concurrency: 2, queue: 5 });
    const results = ['a', 'b', 'c', 'd'].map((name, index) => gate.run(task(name), false, `192.0.2.${index}`));
    expect(began).toEqual(['a', 'b']);
    await end('b');
    expect(began).toEqual(['a', 'b', 'c']);
    await end('a');
    expect(began).toEqual(['a', 'b', 'c', 'd']);
    await end('c');
    await end('d');
    await expect(Promise.all(results)).resolves.toEqual(['a', 'b', 'c', 'd']);
  });

  it('rejects tasks while the queue is full, and accepts tasks again afterwards', async () => {
    const { began, task, end } = tasks();
    const gate = createWorkGate({ concurrency: 1, queue: 1 });
    void gate.run(task('a'), false, HOME);
    void gate.run(task('b'), false, HOME);
    await expect(gate.run(task('c'), false, HOME)).resolves.toBeUndefined();
    await end('a');
    await end('b');
    void gate.run(task('d'), false, HOME);
    expect(began).toEqual(['a', 'b', 'd']);
  });

  it('gives precedence to urgent tasks and never rejects them', async () => {
    const { began, task, end } = tasks();
    const gate = createWorkGate({ concurrency: 1, queue: 1 });
    void gate.run(task('a'), false, HOME);
    void gate.run(task('b'), false, HOME);
    void gate.run(task('urgent-1'), true, HOME);
    void gate.run(task('urgent-2'), true, HOME);
    for (const name of ['a', 'urgent-1', 'urgent-2']) await end(name);
    expect(began).toEqual(['a', 'urgent-1', 'urgent-2', 'b']);
  });

  it('does not count urgent tasks toward the share of their network', async () => {
    const { began, task } = tasks();
    const gate = createWorkGate({ concurrency: 2, queue: 5 });
    void gate.run(task('urgent'), true, HOME);
    void gate.run(task('a'), false, HOME);
    expect(began).toEqual(['urgent', 'a']);
  });

  it('passes the slot of a failed task to the next', async () => {
    const { began, task, fail } = tasks();
    const gate = createWorkGate({ concurrency: 1, queue: 1 });
    const failing = gate.run(task('a'), false, HOME);
    void gate.run(task('b'), false, HOME);
    const seen = expect(failing).rejects.toThrow('a');
    await fail('a');
    await seen;
    expect(began).toEqual(['a', 'b']);
  });

  // The attack: one address sends made-up names and passwords faster than the passwords can be hashed. Previously,
  // these attempts filled the queue, and every caller logging in for the first time was refused with a 429.
  it("accepts another network's task while one network fills the queue, and runs it next", async () => {
    const { began, task, end } = tasks();
    const gate = createWorkGate({ concurrency: 1, queue: 3 });
    const flood = ['f1', 'f2', 'f3', 'f4', 'f5'].map((name) => gate.run(task(name), false, 'flood'));
    await expect(flood[4]).resolves.toBeUndefined();
    const newcomer = gate.run(task('newcomer'), false, HOME);
    await expect(flood[3]).resolves.toBeUndefined();
    for (const name of ['f1', 'f2']) await end(name);
    expect(began).toEqual(['f1', 'f2', 'newcomer']);
    await end('newcomer');
    await expect(newcomer).resolves.toBe('newcomer');
    await end('f3');
    await expect(Promise.all(flood.slice(0, 3))).resolves.toEqual(['f1', 'f2', 'f3']);
  });

  it('rejects no task of a network with as many waiting tasks', async () => {
    const { task } = tasks();
    const gate = createWorkGate({ concurrency: 1, queue: 2 });
    for (const [name, network] of [
      ['a', 'one'],
      ['b', 'one'],
      ['c', 'two'],
    ] as const)
      void gate.run(task(name), false, network);
    await expect(gate.run(task('d'), false, 'two')).resolves.toBeUndefined();
    await expect(gate.run(task('e'), false, 'three')).resolves.toBeUndefined();
  });

  // If the upstream is slow, each probe takes seconds. A single address must not occupy all slots during that time.
  it('reserves a slot that a single network never gets', () => {
    const { began, task } = tasks();
    const gate = createWorkGate({ concurrency: 3, queue: 9 });
    for (const name of ['f1', 'f2', 'f3', 'f4']) void gate.run(task(name), false, 'flood');
    expect(began).toEqual(['f1', 'f2']);
    void gate.run(task('newcomer'), false, HOME);
    expect(began).toEqual(['f1', 'f2', 'newcomer']);
  });

  it('forgets networks without tasks', async () => {
    const { began, task, end } = tasks();
    const gate = createWorkGate({ concurrency: 2, queue: 2 });
    for (let round = 0; round < 3; round += 1) {
      const names = [`a${round}`, `b${round}`];
      for (const name of names) void gate.run(task(name), false, HOME);
      for (const name of names) await end(name);
    }
    expect(began).toHaveLength(6);
  });
});
