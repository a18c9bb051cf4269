import type { Logger } from 'pino';
import type { BaselineFile } from './baseline-file.ts';
import type { Clock } from '../../lib/clock.ts';
import type { BaselineChange } from '../../engine/model/change-log.ts';

/**
 * Returns a function that applies baseline changes that operators make on other gateways. Changes made before this
 * gateway started are ignored, because they may be older than the file it has read.
 */
export function baselineFollower(
  live: { readonly baseline: BaselineFile | undefined },
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
) {
  const startedAt = clock();
  return (change: BaselineChange) => {
    if (change.at < startedAt || live.baseline === undefined) return;
    const { file } = live.baseline;
    logger.info({ file, fingerprint: change.fingerprint }, 'another gateway has changed the baseline');
    live.baseline
      .adopt(change)
      .catch((error: unknown) => logger.error({ file, err: error }, 'a change to the baseline cannot be written'));
  };
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
