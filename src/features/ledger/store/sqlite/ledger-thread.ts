import { extname, join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import type { WorkerStart, WorkerTask, WorkerResponse } from './ledger-worker.ts';

// The worker is in the same folder as this file and has the same extension: `.ts` in the source and `.js` in a release.
const WORKER = join(import.meta.dirname, `ledger-worker${extname(import.meta.filename)}`);

/** The limits on the thread's heap, in MB. They are low because the thread runs for as long as the gateway does. */
const HEAP = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 128 };

interface PendingTask {
  // The task kind determines the result type.
  resolve(result: never): void;
  reject(error: Error): void;
}

/** The thread that uses a ledger file. */
export interface Thread {
  readonly worker: Worker;
  /** Sends a task. Resolves with its result, and rejects if the task fails or the thread ends. */
  send<T>(task: WorkerTask): Promise<T>;
}

/** Starts the thread for a ledger file. `onEnd` is called when the thread ends. */
export function startThread(start: WorkerStart, onEnd: (thread: Thread) => void): Thread {
  // `node:worker_threads` is loaded only when needed, because it takes 2 MB of memory and an idle gateway starts no
  // threads.
  const threads = process.getBuiltinModule('node:worker_threads');
  const worker = new threads.Worker(WORKER, { workerData: start, resourceLimits: HEAP, execArgv: [], env: {} });
  const pending = new Map<number, PendingTask>();
  let lastId = 0;

  const settle = (id: number): PendingTask | undefined => {
    const task = pending.get(id);
    pending.delete(id);
    // Only unfinished tasks keep the process running.
    if (pending.size === 0) worker.unref();
    return task;
  };
  const end = (error: Error) => {
    onEnd(thread);
    for (const id of pending.keys()) settle(id)?.reject(error);
  };
  worker.on('message', (message: WorkerResponse) => {
    const task = settle(message.id);
    if ('failure' in message) task?.reject(new Error(message.failure));
    else task?.resolve(message.result as never);
  });
  worker.on('error', (error) => end(error instanceof Error ? error : new Error(String(error))));
  worker.on('exit', () => end(new Error('the ledger thread has ended')));
  const thread: Thread = {
    worker,
    send: <T>(task: WorkerTask) =>
      new Promise<T>((resolve, reject) => {
        lastId += 1;
        pending.set(lastId, { resolve, reject });
        worker.ref();
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
        worker.postMessage({ ...task, id: lastId });
      }),
  };
  return thread;
}
