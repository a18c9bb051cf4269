import { extname, join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import type { WorkerStart, WorkerTask, WorkerRequest, WorkerResponse } from './ledger-worker.ts';

// The worker is in the same folder as this file and has the same extension: `.ts` in the source and `.js` in a release.
const WORKER = join(import.meta.dirname, `ledger-worker${extname(import.meta.filename)}`);

/** The limits on the thread's heap, in MB. They are low because the thread runs for as long as the gateway does. */
const HEAP = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 128 };

/** How long the thread waits for another ledger once all ledgers are closed, in milliseconds. It is slow to start. */
const LINGER_MS = 10_000;

interface PendingTask {
  // The task kind determines the result type.
  resolve(result: never): void;
  reject(error: Error): void;
}

/** The thread that uses the ledgers of this process. */
interface Thread {
  /** The numbers of the ledgers that the thread knows. */
  readonly ledgers: Set<number>;
  /** Sends a task. Resolves with its result, and rejects if the task fails or the thread ends. */
  send<T>(request: Omit<WorkerRequest, 'id'>): Promise<T>;
  /** Ends the thread if no ledger is opened in the meantime. */
  endSoon(): void;
}

interface ThreadLedger {
  /** Sends a task. Resolves with its result, and rejects if the task fails or the thread ends. */
  send<T>(task: WorkerTask): Promise<T>;
  /** Closes the ledger. */
  close(): Promise<void>;
}

let current: Thread | undefined;
let lastLedger = 0;

/**
 * Returns a ledger that only the ledger thread uses. The first task opens it, so an idle gateway has no ledger thread. If
 * the thread ends, the next task starts a new one.
 */
export function ledgerInThread(start: WorkerStart): ThreadLedger {
  lastLedger += 1;
  const ledger = lastLedger;
  return {
    send<T>(task: WorkerTask): Promise<T> {
      const thread = (current ??= startThread());
      const isKnown = thread.ledgers.has(ledger);
      thread.ledgers.add(ledger);
      return thread.send<T>({ task, ledger, start: isKnown ? undefined : start });
    },
    async close() {
      const thread = current;
      if (thread?.ledgers.has(ledger) !== true) return;
      await thread.send<undefined>({ task: { kind: 'close' }, ledger, start: undefined });
      thread.ledgers.delete(ledger);
      if (thread.ledgers.size === 0) thread.endSoon();
    },
  };
}

function startThread(): Thread {
  // `node:worker_threads` is loaded only when needed, because it takes 2 MB of memory and an idle gateway starts no
  // threads.
  const threads = process.getBuiltinModule('node:worker_threads');
  const worker: Worker = new threads.Worker(WORKER, { resourceLimits: HEAP, execArgv: [], env: {} });
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
    if (current === thread) current = undefined;
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
    ledgers: new Set(),
    send: <T>(request: Omit<WorkerRequest, 'id'>) =>
      new Promise<T>((resolve, reject) => {
        lastId += 1;
        pending.set(lastId, { resolve, reject });
        worker.ref();
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
        worker.postMessage({ ...request, id: lastId } satisfies WorkerRequest);
      }),
    endSoon() {
      setTimeout(() => {
        if (thread.ledgers.size > 0) return;
        if (current === thread) current = undefined;
        void worker.terminate();
      }, LINGER_MS).unref();
    },
  };
  return thread;
}
