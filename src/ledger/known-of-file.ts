import { assertSound, openLedgerDatabase } from './ledger-database.ts';
import type { OpenedStore } from './ledger-store.ts';

/** Looks through a ledger's file that holds something; throws LedgerFileError where that cannot be used. */
export function knownOfFile(path: string): Pick<OpenedStore, 'fingerprints' | 'callerKey'> {
  const database = openLedgerDatabase(path);
  try {
    assertSound(database, path);
    const fingerprints = database.prepare('SELECT fingerprint FROM entries').all();
    const key = database.prepare(`SELECT value FROM meta WHERE name = 'callerKey'`).get();
    return { fingerprints: fingerprints.map((row) => String(row['fingerprint'])), callerKey: String(key?.['value']) };
  } finally {
    database.close();
  }
}
