import { randomBytes } from 'node:crypto';
import { extname, join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import type { LedgerQuery, LedgerSnapshot } from '../../../model/ledger-entry.ts';
import type { LedgerBatch, LedgerStore, OpenedStore, StoreState } from '../../ledger-store.ts';
import { beginFile } from './ledger-file.ts';
import type { FileLimits } from './sqlite-file.ts';

/** The data that the ledger thread needs to start. */
export interface WorkerStart {
  readonly path: string;
  readonly limits: FileLimits;
  /** The key for hashing callers that is stored in newly created tables. */
  readonly callerKey?: string;
}

/** A task for the ledger thread. */
type WorkerTask =
  | { readonly kind: 'write'; readonly batch: LedgerBatch }
  | { readonly kind: 'read'; readonly query: LedgerQuery; readonly takenAt: number }
  | { readonly kind: 'close' };

/** A task with an id, which the response repeats. */
export type WorkerRequest = WorkerTask & { readonly id: number };

/** The result of a task, or the message of its error. */
export type WorkerResponse =
  | { readonly id: number; readonly result: StoreState | LedgerSnapshot | undefined }
  | { readonly id: number; readonly failure: string };

// The worker is in the same folder as this file and has the same extension: `.ts` in the source and `.js` in a release.
const WORKER = join(import.meta.dirname, `ledger-worker${extname(import.meta.filename)}`);

/** The limits on the thread's heap, in MB. They are low because the thread runs all the time. */
const HEAP = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 128 };

interface PendingTask {
  // The kind of the task determines the type of the result.
  resolve(result: never): void;
  reject(error: Error): void;
}

/**
 * Opens a ledger file, checks it and reads its fingerprints. From then on, only a separate thread uses the file. Throws
 * `LedgerStoreError`. SQLite is loaded only if the file has content, so the first startup with a new file does not load
 * it.
 */
export async function openFileStore(path: string, limits: FileLimits): Promise<OpenedStore> {
  if (beginFile(path)) {
    const callerKey = randomBytes(32).toString('hex');
    return { store: createWorkerStore({ path, limits, callerKey }), fingerprints: [], callerKey };
  }
  const { readStoredKeys } = await import('./ledger-database.ts');
  const known = readStoredKeys(path);
  return { ...known, store: createWorkerStore({ path, limits, callerKey: known.callerKey }) };
}

/**
 * Creates a store whose file is written by a separate thread. The first task starts the thread, so an idle gateway does
 * not have one. If the thread ends, the next task restarts it.
 */
export function createWorkerStore(start: WorkerStart): LedgerStore {
  let thread: Thread | undefined;
  const send = <T>(task: WorkerTask): Promise<T> => {
    thread ??= startThread(start, (ended) => {
      if (thread === ended) thread = undefined;
    });
    return thread.send<T>(task);
  };
  return {
    write: (batch) => send<StoreState>({ kind: 'write', batch }),
    read: (query, takenAt) => send<LedgerSnapshot>({ kind: 'read', query, takenAt }),
    async close() {
      if (thread === undefined) return;
      const { worker } = thread;
      await send<undefined>({ kind: 'close' });
      thread = undefined;
      await worker.terminate();
    },
  };
}

interface Thread {
  readonly worker: Worker;
  send<T>(task: WorkerTask): Promise<T>;
}

function startThread(start: WorkerStart, onEnd: (thread: Thread) => void): Thread {
  // This module is loaded only when it is needed, because it takes 2 MB of memory and an idle gateway starts no
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
