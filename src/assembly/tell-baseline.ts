import type { Logger } from 'pino';
import type { BaselineFile } from '../ledger/baseline/baseline-file.ts';
import type { Clock } from '../lib/clock.ts';

const MAX_TOLD = 20;

/** Says in the log what people should know of a baseline file: that there is none, and what holds no longer. */
export function tellBaseline(baseline: BaselineFile | undefined, logger: Logger, clock: Clock): void {
  if (baseline === undefined) return;
  const { file, missing } = baseline;
  if (missing) logger.warn({ file }, 'there is no baseline file: nothing is accepted until the console writes it');
  const expired = baseline.expired(clock());
  for (const { fingerprint, expires } of expired.slice(0, MAX_TOLD))
    logger.warn({ file, fingerprint, expires }, 'a violation is no longer accepted: its entry has expired');
  if (expired.length > MAX_TOLD)
    logger.warn({ file, expired: expired.length }, 'more entries of the baseline have expired');
}
