import { extname, join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import type { LedgerSnapshot } from '../../model/ledger-snapshot.ts';
import type { LedgerStore, StoreState } from '../ledger-store.ts';
import type { WorkerAnswer, WorkerStart, WorkerTask } from './worker-messages.ts';

// Beside this file, as source or as what a release is built of.
const WORKER = join(import.meta.dirname, `ledger-worker${extname(import.meta.filename)}`);

/** MB of heap that the thread may take: a batch and a snapshot are small, and it is there all the time. */
const HEAP = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 128 };

interface Waiting {
  // The answer to a task has the type that the task names.
  resolve(result: never): void;
  reject(error: Error): void;
}

/**
 * Creates a store whose file is written by a thread of its own. The thread starts with the first task, so that a gateway
 * at rest does not pay for it, and anew with the next task when it has ended.
 */
export function createWorkerStore(start: WorkerStart): LedgerStore {
  let thread: Thread | undefined;
  const ask = <T>(task: WorkerTask): Promise<T> => {
    thread ??= startThread(start, (ended) => {
      if (thread === ended) thread = undefined;
    });
    return thread.ask<T>(task);
  };
  return {
    write: (batch) => ask<StoreState>({ kind: 'write', batch }),
    read: (query, takenAt) => ask<LedgerSnapshot>({ kind: 'read', query, takenAt }),
    async close() {
      if (thread === undefined) return;
      const { worker } = thread;
      await ask<undefined>({ kind: 'close' });
      thread = undefined;
      await worker.terminate();
    },
  };
}

interface Thread {
  readonly worker: Worker;
  ask<T>(task: WorkerTask): Promise<T>;
}

function startThread(start: WorkerStart, onEnd: (thread: Thread) => void): Thread {
  // Asked for here, because a gateway at rest needs no threads and the module takes 2 MB.
  const threads = process.getBuiltinModule('node:worker_threads');
  const worker = new threads.Worker(WORKER, { workerData: start, resourceLimits: HEAP, execArgv: [], env: {} });
  const waiting = new Map<number, Waiting>();
  let lastId = 0;

  const settle = (id: number): Waiting | undefined => {
    const one = waiting.get(id);
    waiting.delete(id);
    // Nothing keeps the process alive but work that is not done yet.
    if (waiting.size === 0) worker.unref();
    return one;
  };
  const end = (error: Error) => {
    onEnd(thread);
    for (const id of waiting.keys()) settle(id)?.reject(error);
  };
  worker.on('message', (message: WorkerAnswer) => {
    const one = settle(message.id);
    if ('failure' in message) one?.reject(new Error(message.failure));
    else one?.resolve(message.result as never);
  });
  worker.on('error', (error) => end(error instanceof Error ? error : new Error(String(error))));
  worker.on('exit', () => end(new Error('the thread of the ledger has ended')));
  const thread: Thread = {
    worker,
    ask: <T>(task: WorkerTask) =>
      new Promise<T>((resolve, reject) => {
        lastId += 1;
        waiting.set(lastId, { resolve, reject });
        worker.ref();
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
        worker.postMessage({ ...task, id: lastId });
      }),
  };
  return thread;
}
