import { existsSync } from 'node:fs';
import { IN_MEMORY } from '../../files/replace-file.ts';
import type { LedgerQuery, LedgerSnapshot } from '../../model/ledger-snapshot.ts';
import type { LedgerOptions } from '../ledger-options.ts';
import type { OpenedStore } from '../ledger-store.ts';
import { openMemoryStore } from './memory-store.ts';
import { openFileStore } from './worker-store.ts';

/** The place where a ledger is stored. The gateway and the command line open ledgers only through this interface. */
interface LedgerLocation {
  /** The location as written in the configuration. */
  readonly name: string;
  /** The configuration key for the location, as a JSON pointer. */
  readonly key: string;
  /** False if the data is lost when the process ends. Other processes then cannot read it. */
  readonly isLasting: boolean;
  /** Opens the store for a gateway, which is the only writer. Throws `LedgerFileError`. */
  open(): Promise<OpenedStore>;
  /**
   * Reads the ledger, even if a gateway is writing to it. Returns undefined if there is nothing to read, because the
   * ledger is in memory or has not been used yet. Throws `StartFault` if it cannot be used.
   */
  read(query: LedgerQuery): Promise<LedgerSnapshot | undefined>;
}

const FILE_KEY = '/ledger/file';

/** Returns the configured location, which determines the type of store. */
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
      // This module is imported only here, because it loads SQLite, which a gateway does not need for a new ledger.
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
 * Returns the options for a ledger in another file. Every command that replaces the location calls this function, so
 * that no part of the configured location is carried over.
 */
export function withLedgerFile(options: LedgerOptions, file: string): LedgerOptions {
  return { ...options, file };
}

/** Returns the options of a ledger that is stored only in memory. */
export function inMemoryOptions(options: LedgerOptions): LedgerOptions {
  return withLedgerFile(options, IN_MEMORY);
}
