import type { Logger } from 'pino';
import type { Settings } from '../../config/settings.ts';
import type { BaselineFile } from '../../ledger/baseline-file.ts';
import { LedgerStoreError, type OpenedStore, StoreUnavailable } from '../../ledger/ledger-store.ts';
import { createLedger, type Ledger } from '../../ledger/record/create-ledger.ts';
import type { KindOf } from '../../ledger/record/fingerprint.ts';
import { ledgerAt, type LedgerFleet } from '../../ledger/store/ledger-location.ts';
import { openMemoryStore } from '../../ledger/store/memory-store.ts';
import type { Clock } from '../../lib/clock.ts';
import { keysOf } from '../../lib/json-pointer.ts';
import { StartFault } from '../../model/fault.ts';
import type { Start } from '../load-start.ts';
import { openLedgerOfPrimary, type ProcessRole, serveLedgerStore } from '../sharing/process-role.ts';

interface LedgerParts {
  readonly clock: Clock;
  readonly kindOf: KindOf;
  readonly logger: Logger;
  /** The connection to Redis and the name of this instance. Undefined if Redis is not configured. */
  readonly fleet: Omit<LedgerFleet, 'onDataLost'> | undefined;
  readonly role: ProcessRole | undefined;
}

/** Creates the ledger. Its store is not opened yet. */
export function assembleLedger(
  settings: Settings,
  { contract }: Start,
  { clock, kindOf, logger, fleet, role }: LedgerParts,
): Ledger {
  const { ledger: options, release } = settings;
  const inMemory = openMemoryStore(options);
  return createLedger({
    clock,
    kindOf,
    release,
    operations: contract.operations.map(({ id }) => id),
    inMemory,
    openStore: async () => {
      if (role?.kind === 'worker' && !ledgerAt(options, settings.redis).isShared) return openLedgerOfPrimary(role);
      const opened = await openStore(settings, inMemory, logger, fleet);
      if (role?.kind === 'primary') serveLedgerStore(role, opened);
      return opened;
    },
    onLost(error) {
      if (error instanceof StoreUnavailable)
        logger.warn('the shared ledger cannot be reached: counts are stored in memory until it can');
      else logger.warn({ err: error }, 'the ledger cannot be written: violations are being dropped');
    },
  });
}

async function openStore(
  { ledger, redis, originOf, placeOf }: Settings,
  inMemory: OpenedStore,
  logger: Logger,
  fleet: LedgerParts['fleet'],
): Promise<OpenedStore> {
  const location = ledgerAt(ledger, redis);
  if (!location.isLasting) return inMemory;
  try {
    const onDataLost = () =>
      logger.error('the shared ledger has lost its data: counting starts again, and earlier counts are missing');
    return await location.open(fleet && { ...fleet, onDataLost });
  } catch (error) {
    if (!(error instanceof LedgerStoreError)) throw error;
    // The operator did not choose this location, so startup continues even if the default folder is not writable.
    if (error.problem === 'unusable' && originOf(location.key) === 'default') {
      logger.warn({ reason: error.message }, 'the ledger is stored in memory only and is lost when this process ends');
      return inMemory;
    }
    const message = `${keysOf(location.key).join('.')}: ${error.message}`;
    throw new StartFault([{ ...placeOf(location.key), message, suggestion: error.fix }]);
  }
}

const MAX_REPORTED = 20;

/** Logs a warning if the baseline file does not exist, or if it contains expired entries. */
export function logBaseline(baseline: BaselineFile | undefined, logger: Logger, clock: Clock): void {
  if (baseline === undefined) return;
  const { file, missing } = baseline;
  if (missing)
    logger.warn({ file }, 'the baseline file does not exist: no violations are accepted until the console writes it');
  const expired = baseline.expired(clock());
  for (const { fingerprint, expires } of expired.slice(0, MAX_REPORTED))
    logger.warn({ file, fingerprint, expires }, 'a violation is no longer accepted: its entry has expired');
  if (expired.length > MAX_REPORTED)
    logger.warn({ file, expired: expired.length }, 'more entries of the baseline have expired');
}
