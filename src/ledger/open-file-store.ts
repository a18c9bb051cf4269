import { assertSound, openLedgerDatabase } from './ledger-database.ts';
import type { OpenedStore } from './ledger-store.ts';
import type { FileLimits } from './sqlite-store.ts';
import { createWorkerStore } from './worker-store.ts';

/** Opens a ledger's file once to see that it can be used and what it holds, and leaves it to a thread; throws LedgerFileError. */
export function openFileStore(path: string, limits: FileLimits): OpenedStore {
  const database = openLedgerDatabase(path);
  try {
    assertSound(database, path);
    const fingerprints = database.prepare('SELECT fingerprint FROM entries').all();
    const key = database.prepare(`SELECT value FROM meta WHERE name = 'callerKey'`).get();
    return {
      store: createWorkerStore({ path, limits }),
      fingerprints: fingerprints.map((row) => String(row['fingerprint'])),
      callerKey: String(key?.['value']),
    };
  } finally {
    database.close();
  }
}
