import { parentPort, workerData } from 'node:worker_threads';
import { openSqliteStore } from './sqlite-store.ts';
import type { LedgerQuery, LedgerSnapshot } from '../../../../engine/model/ledger-entry.ts';
import type { StoreState } from '../../ledger-store.ts';
import type { LedgerBatch } from '../../ledger-batch.ts';
import type { FileLimits } from './sqlite-file.ts';

/** The data passed to the ledger thread when it starts. */
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

/** A task with an id that is repeated in the response. */
type WorkerRequest = WorkerTask & { readonly id: number };

/** The result of a task, or the error message if it failed. */
export type WorkerResponse =
  | { readonly id: number; readonly result: StoreState | LedgerSnapshot | undefined }
  | { readonly id: number; readonly failure: string };

// A separate thread uses the database, so that no request has to wait for the disk or for SQLite.
const { path, limits, callerKey } = workerData as WorkerStart;
const store = openSqliteStore(path, limits, callerKey);

const perform = async (task: WorkerRequest) => {
  if (task.kind === 'write') return store.write(task.batch);
  if (task.kind === 'read') return store.read(task.query, task.takenAt);
  await store.close();
  return undefined;
};

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
const respond = (message: WorkerResponse) => parentPort?.postMessage(message);

parentPort?.on('message', (task: WorkerRequest) => {
  const { id } = task;
  perform(task).then(
    (result) => respond({ id, result }),
    (error: unknown) => respond({ id, failure: error instanceof Error ? error.message : String(error) }),
  );
});
