import { describe, expect, it } from 'vitest';
import { createWorkGate } from '../../src/identity/work-gate.ts';

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Tasks that end when they are told to, and the order in which they began. */
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

describe('the work gate', () => {
  it('runs no more tasks at one time than it may, the others in order', async () => {
    const { began, task, end } = tasks();
    const gate = createWorkGate({ concurrency: 2, queue: 5 });
    const results = ['a', 'b', 'c', 'd'].map(async (name) => gate.run(task(name), false));
    expect(began).toEqual(['a', 'b']);
    await end('b');
    expect(began).toEqual(['a', 'b', 'c']);
    await end('a');
    expect(began).toEqual(['a', 'b', 'c', 'd']);
    await end('c');
    await end('d');
    await expect(Promise.all(results)).resolves.toEqual(['a', 'b', 'c', 'd']);
  });

  it('turns away what finds the queue full, and takes tasks again when there is room', async () => {
    const { began, task, end } = tasks();
    const gate = createWorkGate({ concurrency: 1, queue: 1 });
    void gate.run(task('a'), false);
    void gate.run(task('b'), false);
    expect(gate.run(task('c'), false)).toBeUndefined();
    await end('a');
    await end('b');
    void gate.run(task('d'), false);
    expect(began).toEqual(['a', 'b', 'd']);
  });

  it('lets urgent tasks go ahead, and never turns them away', async () => {
    const { began, task, end } = tasks();
    const gate = createWorkGate({ concurrency: 1, queue: 1 });
    void gate.run(task('a'), false);
    void gate.run(task('b'), false);
    void gate.run(task('urgent-1'), true);
    void gate.run(task('urgent-2'), true);
    for (const name of ['a', 'urgent-1', 'urgent-2']) await end(name);
    expect(began).toEqual(['a', 'urgent-1', 'urgent-2', 'b']);
  });

  it('gives the place of a failed task on', async () => {
    const { began, task, fail } = tasks();
    const gate = createWorkGate({ concurrency: 1, queue: 1 });
    const failing = gate.run(task('a'), false);
    void gate.run(task('b'), false);
    const seen = expect(failing).rejects.toThrow('a');
    await fail('a');
    await seen;
    expect(began).toEqual(['a', 'b']);
  });
});
