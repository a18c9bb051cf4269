import type { Logger } from 'pino';
import type { Settings } from '../config/settings.ts';
import { createLedger } from '../ledger/create-ledger.ts';
import type { KindOf } from '../ledger/fingerprint.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { openMemoryStore } from '../ledger/memory-store.ts';
import type { Clock } from '../lib/clock.ts';
import type { Start } from './load-start.ts';

/** Makes the ledger; its file is not touched before it is opened. */
export function assembleLedger(
  { ledger: options, release }: Settings,
  { contract }: Start,
  { clock, kindOf, logger }: { readonly clock: Clock; readonly kindOf: KindOf; readonly logger: Logger },
): Ledger {
  return createLedger({
    clock,
    kindOf,
    release,
    operations: contract.operations.map(({ id }) => id),
    inMemory: openMemoryStore(options),
    onLost: (error) => logger.warn({ err: error }, 'the ledger cannot be written: what it should hold is dropped'),
  });
}
