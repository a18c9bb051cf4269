import type { Logger } from 'pino';
import type { Settings } from '../config/settings.ts';
import type { BaselineFile } from '../ledger/baseline-file.ts';
import type { OpenedStore } from '../ledger/ledger-store.ts';
import { createLedger, type Ledger } from '../ledger/record/create-ledger.ts';
import type { KindOf } from '../ledger/record/fingerprint.ts';
import { LedgerFileError } from '../ledger/store/ledger-file.ts';
import { ledgerAt } from '../ledger/store/ledger-location.ts';
import { openMemoryStore } from '../ledger/store/memory-store.ts';
import type { Clock } from '../lib/clock.ts';
import { keysOf } from '../lib/json-pointer.ts';
import { StartFault } from '../model/fault.ts';
import type { Start } from './load-start.ts';

/** Creates the ledger. Its store is not opened yet. */
export function assembleLedger(
  settings: Settings,
  { contract }: Start,
  { clock, kindOf, logger }: { readonly clock: Clock; readonly kindOf: KindOf; readonly logger: Logger },
): Ledger {
  const { ledger: options, release } = settings;
  const inMemory = openMemoryStore(options);
  return createLedger({
    clock,
    kindOf,
    release,
    operations: contract.operations.map(({ id }) => id),
    inMemory,
    openStore: () => openStore(settings, inMemory, logger),
    onLost: (error) => logger.warn({ err: error }, 'the ledger cannot be written: violations are being dropped'),
  });
}

async function openStore(
  { ledger, originOf, placeOf }: Settings,
  inMemory: OpenedStore,
  logger: Logger,
): Promise<OpenedStore> {
  const location = ledgerAt(ledger);
  if (!location.isLasting) return inMemory;
  try {
    return await location.open();
  } catch (error) {
    if (!(error instanceof LedgerFileError)) throw error;
    // The operator did not choose the default location, so startup continues even if that folder is not writable.
    if (error.problem === 'unusable' && originOf(location.key) === 'default') {
      logger.warn({ reason: error.message }, 'the ledger is stored in memory only and is lost when this process ends');
      return inMemory;
    }
    const message = `${keysOf(location.key).join('.')}: ${error.message}`;
    throw new StartFault([{ ...placeOf(location.key), message, suggestion: error.fix }]);
  }
}

const MAX_REPORTED = 20;

/** Logs a warning if the baseline file does not exist or contains expired entries. */
export function logBaseline(baseline: BaselineFile | undefined, logger: Logger, clock: Clock): void {
  if (baseline === undefined) return;
  const { file, missing } = baseline;
  if (missing)
    logger.warn({ file }, 'the baseline file does not exist: no violation is accepted until the console writes it');
  const expired = baseline.expired(clock());
  for (const { fingerprint, expires } of expired.slice(0, MAX_REPORTED))
    logger.warn({ file, fingerprint, expires }, 'a violation is no longer accepted: its entry has expired');
  if (expired.length > MAX_REPORTED)
    logger.warn({ file, expired: expired.length }, 'more entries of the baseline have expired');
}
