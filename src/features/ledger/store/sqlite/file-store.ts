import { randomBytes } from 'node:crypto';
import type { LedgerSnapshot } from '../../../../engine/model/ledger-entry.ts';
import type { LedgerStore, OpenedStore, StoreState } from '../../ledger-store.ts';
import { beginFile } from './ledger-file.ts';
import type { FileLimits } from './sqlite-file.ts';
import type { WorkerStart } from './ledger-worker.ts';
import { ledgerInThread } from './ledger-thread.ts';

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

/** Creates a store whose database only the ledger thread uses. */
export function createWorkerStore(start: WorkerStart): LedgerStore {
  const { send, close } = ledgerInThread(start);
  return {
    write: (batch) => send<StoreState>({ kind: 'write', batch }),
    read: (query, takenAt) => send<LedgerSnapshot>({ kind: 'read', query, takenAt }),
    close,
  };
}
