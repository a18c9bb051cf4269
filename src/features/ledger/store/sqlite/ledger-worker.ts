import { parentPort } from 'node:worker_threads';
import { openSqliteStore } from './sqlite-store.ts';
import type { LedgerQuery, LedgerSnapshot } from '../../../../engine/model/ledger-entry.ts';
import type { LedgerStore, StoreState } from '../../ledger-store.ts';
import type { LedgerBatch } from '../../ledger-batch.ts';
import type { FileLimits } from './sqlite-file.ts';

/** What the thread needs to open a ledger. */
export interface WorkerStart {
  readonly path: string;
  readonly limits: FileLimits;
  /** The key for hashing callers, which is stored in newly created tables. */
  readonly callerKey?: string;
}

/** A task for the ledger thread. */
export type WorkerTask =
  | { readonly kind: 'write'; readonly batch: LedgerBatch }
  | { readonly kind: 'read'; readonly query: LedgerQuery; readonly takenAt: number }
  | { readonly kind: 'close' };

/** A task for one of the ledgers, with an id that is repeated in the response. */
export interface WorkerRequest {
  readonly id: number;
  readonly ledger: number;
  /** Given with the first task of a ledger. */
  readonly start: WorkerStart | undefined;
  readonly task: WorkerTask;
}

/** The result of a task, or the error message if it failed. */
export type WorkerResponse =
  | { readonly id: number; readonly result: StoreState | LedgerSnapshot | undefined }
  | { readonly id: number; readonly failure: string };

/** A ledger that the process uses, and its store once it has been opened. */
interface KnownLedger {
  readonly start: WorkerStart;
  store?: LedgerStore;
}

// A separate thread uses the databases, so that no request has to wait for the disk or for SQLite.
const ledgers = new Map<number, KnownLedger>();

const perform = async ({ ledger: number, start, task }: WorkerRequest) => {
  if (start !== undefined) ledgers.set(number, { start });
  const ledger = ledgers.get(number);
  if (ledger === undefined) throw new Error('the ledger has been closed');
  if (task.kind === 'close') {
    ledgers.delete(number);
    await ledger.store?.close();
    return undefined;
  }
  // A file that cannot be opened now may be usable when the next task arrives.
  const { path, limits, callerKey } = ledger.start;
  const store = (ledger.store ??= openSqliteStore(path, limits, callerKey));
  return task.kind === 'write' ? store.write(task.batch) : store.read(task.query, task.takenAt);
};

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
const respond = (message: WorkerResponse) => parentPort?.postMessage(message);

parentPort?.on('message', (request: WorkerRequest) => {
  const { id } = request;
  perform(request).then(
    (result) => respond({ id, result }),
    (error: unknown) => respond({ id, failure: error instanceof Error ? error.message : String(error) }),
  );
});
