import { describe, expect, it } from 'vitest';
import type { Peer } from '../../src/workers/ipc-peer.ts';
import { openPrimaryDocument, openWorkerDocument } from '../../src/workers/ipc-document.ts';
import type { Worker, WorkerIdentity } from '../../src/workers/supervise-workers.ts';

type Handlers = Record<string, (value: never, worker: WorkerIdentity) => unknown>;

/** A document whose items are words, in the form `version:a,b`. Merging adds and removes words. */
const words = (text: string) => (text.split(':')[1] ?? '').split(',').filter((word) => word !== '');
function copy(text: string) {
  const own = {
    name: 'words',
    text,
    current: () => own.text,
    adopt: (next: string) => void (own.text = next),
    merge(base: string, mine: string, theirs: string) {
      const kept = words(theirs).filter((word) => words(mine).includes(word) || !words(base).includes(word));
      const added = words(mine).filter((word) => !words(base).includes(word) && !kept.includes(word));
      return `${theirs.split(':')[0]}:${[...kept, ...added].join(',')}`;
    },
    versionOf: (value: string) => value.split(':')[0] ?? '',
    format: (value: string) => value,
    parse(value: string) {
      if (!/^\w+:[\w,]*$/.test(value)) throw new Error('invalid');
      return value;
    },
  };
  return own;
}

/** Creates a primary process and workers that have joined it. Calls between them are delivered immediately. */
function processes(texts: readonly string[], primaryText: string) {
  const handlers: Handlers = {};
  const joined: Worker[] = [];
  const own = copy(primaryText);
  const primary = openPrimaryDocument({ ...own, handlers, workers: () => joined, fleet: undefined });
  const workers = texts.map((text, index) => {
    const peer = (to: () => Handlers, from?: Worker): Peer => ({
      isOpen: true,
      call: async (name, value) => to()[name]?.(value as never, from as Worker),
    });
    const [mine, workerHandlers] = [copy(text), {} as Handlers];
    const worker: Worker = { number: index + 1, pid: index, peer: peer(() => workerHandlers) };
    joined.push(worker);
    const document = openWorkerDocument({
      ...mine,
      primary: peer(() => handlers, worker),
      handlers: workerHandlers as Record<string, (value: never) => unknown>,
    });
    return { copy: mine, document };
  });
  return { primary, own, workers, handlers };
}

describe('a document that several processes share', () => {
  it('is the one of the primary process at the start, and includes the changes of every process afterwards', async () => {
    const { primary, own, workers } = processes(['v1:old', 'v1:'], 'v1:a');
    for (const { document } of workers) await document.start();
    expect(workers.map(({ copy: { text } }) => text)).toEqual(['v1:a', 'v1:a']);
    own.text = 'v1:a,b';
    expect(await primary.sync()).toBe(false);
    expect(workers.map(({ copy: { text } }) => text)).toEqual(['v1:a,b', 'v1:a,b']);
    const [one, two] = workers;
    if (one === undefined || two === undefined) throw new Error('no workers');
    one.copy.text = 'v1:b,c';
    expect(await one.document.sync()).toBe(true);
    expect([own.text, two.copy.text]).toEqual(['v1:b,c', 'v1:b,c']);
    expect(await one.document.takeTurn()).toBeUndefined();
    expect(await (await primary.takeTurn())?.commit('v1:b')).toBe(true);
  });

  it('is never merged with another version or with an invalid text', async () => {
    const { primary, own, workers, handlers } = processes(['v1:'], 'v1:a');
    const [one] = workers;
    if (one === undefined) throw new Error('no worker');
    await one.document.start();
    // The primary process is the first to load the new contract.
    own.text = 'v2:x';
    await primary.sync();
    one.copy.text = 'v1:a,late';
    await one.document.sync();
    expect([own.text, one.copy.text]).toEqual(['v2:x', 'v1:a,late']);
    one.copy.text = 'v2:';
    await one.document.sync();
    expect([own.text, one.copy.text]).toEqual(['v2:x', 'v2:x']);
    const damaged = handlers['document.words']?.({ base: 5, mine: '' } as never, {} as Worker);
    await expect(damaged).rejects.toThrow('invalid');
    expect(own.text).toBe('v2:x');
  });
});
