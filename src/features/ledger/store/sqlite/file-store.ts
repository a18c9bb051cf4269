import { randomBytes } from 'node:crypto';
import type { LedgerSnapshot } from '../../../../engine/model/ledger-entry.ts';
import type { LedgerStore, OpenedStore, StoreState } from '../../ledger-store.ts';
import { beginFile } from './ledger-file.ts';
import type { FileLimits } from './sqlite-file.ts';
import type { WorkerStart, WorkerTask } from './ledger-worker.ts';
import { type Thread, startThread } from './ledger-thread.ts';

/**
 * Opens a ledger file, checks it and reads its fingerprints. From then on, only a separate thread uses the file. Throws
 * `LedgerStoreError`. SQLite is loaded only if the file has content, so a gateway that starts with a new file does not
 * load it.
 */
export async function openFileStore(path: string, limits: FileLimits): Promise<OpenedStore> {
  if (beginFile(path)) {
    const callerKey = randomBytes(32).toString('hex');
    return { store: createWorkerStore({ path, limits, callerKey }), fingerprints: [], callerKey, isLasting: true };
  }
  const { readStoredKeys } = await import('./ledger-database.ts');
  const known = readStoredKeys(path);
  return { ...known, store: createWorkerStore({ path, limits, callerKey: known.callerKey }), isLasting: true };
}

/**
 * Creates a store whose database is used by a separate thread. The first task starts the thread, so an idle gateway has
 * no ledger thread. If the thread ends, the next task starts a new one.
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
