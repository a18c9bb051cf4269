import { randomBytes } from 'node:crypto';
import { beginFile } from './begin-file.ts';
import type { OpenedStore } from '../ledger-store.ts';
import type { FileLimits } from './sqlite-file.ts';
import { createWorkerStore } from './worker-store.ts';

/**
 * Opens a ledger's file once to see that it can be used and what it holds, and leaves it to a thread; throws
 * LedgerFileError. SQLite is read about only where there is something to look at: a first start does without it.
 */
export async function openFileStore(path: string, limits: FileLimits): Promise<OpenedStore> {
  if (beginFile(path)) {
    const callerKey = randomBytes(32).toString('hex');
    return { store: createWorkerStore({ path, limits, callerKey }), fingerprints: [], callerKey };
  }
  const { knownOfFile } = await import('./ledger-database.ts');
  const known = knownOfFile(path);
  return { ...known, store: createWorkerStore({ path, limits, callerKey: known.callerKey }) };
}
