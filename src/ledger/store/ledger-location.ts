import { existsSync } from 'node:fs';
import { IN_MEMORY } from '../../files/replace-file.ts';
import type { LedgerQuery, LedgerSnapshot } from '../../model/ledger-snapshot.ts';
import type { LedgerOptions } from '../ledger-options.ts';
import type { OpenedStore } from '../ledger-store.ts';
import { openMemoryStore } from './memory-store.ts';
import { openFileStore } from './open-file-store.ts';

/** The place where a ledger is stored. The gateway and the command line open ledgers only through this. */
interface LedgerLocation {
  /** The location as it is configured. */
  readonly name: string;
  /** The configuration key that names it, as a JSON pointer. */
  readonly key: string;
  /** False if the data is lost when the process ends, so that no other process can read it. */
  readonly isLasting: boolean;
  /** Opens the store for a gateway, the only writer. Throws LedgerFileError. */
  open(): Promise<OpenedStore>;
  /**
   * Reads the ledger, even while a gateway writes to it. Returns undefined if there is nothing to read: the location is
   * not lasting, or no gateway has used it yet. Throws StartFault if it cannot be used.
   */
  read(query: LedgerQuery): Promise<LedgerSnapshot | undefined>;
}

const FILE_KEY = '/ledger/file';

/** Returns the configured location, which determines the kind of store. */
export function ledgerAt(options: LedgerOptions): LedgerLocation {
  const { file } = options;
  if (file === IN_MEMORY)
    return {
      name: file,
      key: FILE_KEY,
      isLasting: false,
      open: () => Promise.resolve(openMemoryStore(options)),
      read: () => Promise.resolve(undefined),
    };
  return {
    name: file,
    key: FILE_KEY,
    isLasting: true,
    open: () => openFileStore(file, options),
    read: async (query) => {
      if (!existsSync(file)) return undefined;
      // Loaded here, because it loads SQLite, which a new gateway does not need.
      const { openLedgerFile } = await import('./open-ledger-file.ts');
      const ledger = openLedgerFile(file);
      try {
        return await ledger.snapshot(query);
      } finally {
        ledger.close();
      }
    },
  };
}

/**
 * Returns the options of a ledger in another file. Every command that replaces the location calls this, so that nothing
 * of the configured location remains.
 */
export function withLedgerFile(options: LedgerOptions, file: string): LedgerOptions {
  return { ...options, file };
}

/** Returns the options of a ledger that leaves nothing behind. */
export function inMemoryOptions(options: LedgerOptions): LedgerOptions {
  return withLedgerFile(options, IN_MEMORY);
}
