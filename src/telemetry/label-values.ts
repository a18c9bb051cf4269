import type { UpstreamFailureKind } from '../model/upstream-failure.ts';

/** The value of the label `operation` for everything outside the contract. */
export const UNDOCUMENTED = 'undocumented';

/** The value of the label `operation` for all operations that have no series of their own, because there would be too many. */
export const FOLDED = 'folded';

/** The value of a label for all that have no value of their own. */
export const OTHER = 'other';

/** What a check can have said. */
export const OUTCOMES = ['passed', 'reported', 'refused', 'skipped', 'failed'] as const;

/** What the cache can have done. */
export const CACHE_RESULTS = ['hit', 'miss', 'stale', 'coalesced', 'bypass'] as const;

/** What the candidate contract can have said otherwise than the one in force. */
export const CANDIDATE_DIFFERENCES = ['newly-refused', 'newly-accepted'] as const;

/** Why authentication can have failed. */
export const AUTHENTICATION_REASONS = [
  'credentials_required',
  'credentials_refused',
  'too_many_attempts',
  'verification_unavailable',
  'not_basic',
  OTHER,
] as const;

const KINDS = {
  refused: true,
  reset: true,
  truncated: true,
  deadline: true,
  shed: true,
  circuit_open: true,
  too_large: true,
  aborted: true,
} satisfies Record<UpstreamFailureKind, true>;

/** How an exchange with the upstream can have failed. */
export const FAILURE_KINDS: readonly string[] = [...Object.keys(KINDS), OTHER];

/** The classes of statuses that are told apart; `aborted` is status 0: nobody got an answer. */
export const STATUS_CLASSES = ['2xx', '3xx', '4xx', '5xx', 'aborted', 'other'] as const;

/** The class of a status, from a fixed set; undefined counts as `aborted`. */
export function statusClass(status: number | undefined): (typeof STATUS_CLASSES)[number] {
  if (status === undefined || status === 0) return 'aborted';
  if (status >= 200 && status < 300) return '2xx';
  if (status >= 300 && status < 400) return '3xx';
  if (status >= 400 && status < 500) return '4xx';
  if (status >= 500 && status < 600) return '5xx';
  return 'other';
}
