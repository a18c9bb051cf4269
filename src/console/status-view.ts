import { CHECK_NAMES } from '../model/checks.ts';
import type { ConsoleSources } from './console-sources.ts';
import { READ_ONLY_REASON } from './write-guard.ts';

/** What every page shows at its head. */
export interface StatusView {
  /** Epoch milliseconds. */
  readonly now: number;
  readonly startedAt: number;
  readonly version: string;
  readonly contractVersion: string;
  readonly release: string;
  readonly mode: string;
  readonly ready: boolean;
  readonly reasons: readonly string[];
  /** Checks that are enforced globally; none says that nothing is refused yet. */
  readonly enforced: readonly string[];
  readonly operations: readonly string[];
  readonly writable: boolean;
  /** Why nothing can be changed; undefined where things can. */
  readonly readOnlyReason: string | undefined;
}

/** Makes the head of every page. */
export function statusView(sources: ConsoleSources): StatusView {
  const { settings, clock, startedAt, version, contractVersion } = sources;
  const { adminToken, checks, mode, release } = settings;
  return {
    now: clock(),
    startedAt,
    version,
    contractVersion,
    release,
    mode: mode.name,
    ...sources.readiness(),
    enforced: CHECK_NAMES.filter((name) => checks[name] === 'enforce'),
    operations: sources.operations.map(({ id }) => id),
    writable: adminToken !== undefined,
    readOnlyReason: adminToken === undefined ? READ_ONLY_REASON : undefined,
  };
}
