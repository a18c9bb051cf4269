import type { UpstreamFailureKind } from '../model/upstream-failure.ts';

/** The value of the label `operation` for all undocumented paths. */
export const UNDOCUMENTED = 'undocumented';

/** The value of the label `operation` for all operations without series of their own (see `maxSeries`). */
export const FOLDED = 'folded';

/** The label value for everything that has no value of its own. */
export const OTHER = 'other';

/** The outcomes of a check. */
export const OUTCOMES = ['passed', 'reported', 'refused', 'skipped', 'failed'] as const;

/** The results of a cache lookup. */
export const CACHE_RESULTS = ['hit', 'miss', 'stale', 'coalesced', 'bypass'] as const;

/** How the verdict of the shadow contract can differ from that of the contract in force. */
export const CANDIDATE_DIFFERENCES = ['newly-refused', 'newly-accepted'] as const;

/** The reasons why authentication fails. */
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

/** The ways in which an exchange with the upstream fails. */
export const FAILURE_KINDS: readonly string[] = [...Object.keys(KINDS), OTHER];

/** The status classes; `aborted` is status 0: the client received no response. */
export const STATUS_CLASSES = ['2xx', '3xx', '4xx', '5xx', 'aborted', 'other'] as const;

/** Returns the class of a status; undefined counts as `aborted`. */
export function statusClass(status: number | undefined): (typeof STATUS_CLASSES)[number] {
  if (status === undefined || status === 0) return 'aborted';
  if (status >= 200 && status < 300) return '2xx';
  if (status >= 300 && status < 400) return '3xx';
  if (status >= 400 && status < 500) return '4xx';
  if (status >= 500 && status < 600) return '5xx';
  return 'other';
}
