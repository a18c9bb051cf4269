import { randomBytes } from 'node:crypto';
import { beginFile } from './begin-file.ts';
import type { OpenedStore } from '../ledger-store.ts';
import type { FileLimits } from './sqlite-file.ts';
import { createWorkerStore } from './worker-store.ts';

/**
 * Opens a ledger file, checks it and reads its fingerprints. From then on, only a separate thread uses the file. Throws
 * `LedgerFileError`. SQLite is loaded only if the file has content, so the very first startup does not load it.
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
