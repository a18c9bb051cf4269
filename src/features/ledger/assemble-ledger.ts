import type { Logger } from 'pino';
import type { Settings } from '../../engine/config/settings.ts';
import { LedgerUnavailable } from '../../engine/model/ledger-entry.ts';
import { LedgerStoreError, type OpenedStore } from './ledger-store.ts';
import type { LedgerOptions } from './options.ts';
import { createLedger, type Ledger } from './record/create-ledger.ts';
import { type LedgerLocation, type LedgerWriter, openLedgerInMemory } from './store/select-store.ts';
import type { RecordParts } from '../../engine/feature.ts';
import { keysOf } from '../../lib/json-pointer.ts';
import { StartFault } from '../../engine/model/fault.ts';

type Places = Pick<Settings, 'originOf' | 'placeOf'>;

interface LedgerParts extends Pick<RecordParts, 'clock' | 'kindOf' | 'release' | 'operations'> {
  readonly logger: Logger;
  readonly location: LedgerLocation;
  /** The dependencies that this gateway provides to the ledger's store. */
  readonly writer: Omit<LedgerWriter, 'onDataLost'>;
}

/** Creates the ledger. Its store is not opened yet. */
export function assembleLedger(options: LedgerOptions, places: Places, parts: LedgerParts): Ledger {
  const { clock, kindOf, release, operations, logger } = parts;
  const { originOf, placeOf } = places;
  const inMemory = openLedgerInMemory(options);
  return createLedger({
    clock,
    kindOf,
    release,
    operations,
    inMemory,
    openStore: () => openStore({ originOf, placeOf }, parts, inMemory),
    onLost(error) {
      if (error instanceof LedgerUnavailable)
        logger.warn('the shared ledger cannot be reached: counts are stored in memory until it can');
      else logger.warn({ err: error }, 'the ledger cannot be written: violations are being dropped');
    },
  });
}

async function openStore(
  { originOf, placeOf }: Places,
  { location, writer, logger }: LedgerParts,
  inMemory: OpenedStore,
): Promise<OpenedStore> {
  if (!location.isLasting) return inMemory;
  const onDataLost = () =>
    logger.error('the shared ledger has lost its data: counting starts again, and earlier counts are missing');
  try {
    return await location.open({ ...writer, onDataLost });
  } catch (error) {
    if (!(error instanceof LedgerStoreError)) throw error;
    if (location.mayBeReplaced && error.problem === 'unusable' && originOf(location.key) === 'default') {
      logger.warn({ reason: error.message }, 'the ledger is stored in memory only and is lost when this process ends');
      return inMemory;
    }
    const message = `${keysOf(location.key).join('.')}: ${error.message}`;
    throw new StartFault([{ ...placeOf(location.key), message, suggestion: error.fix }]);
  }
}
