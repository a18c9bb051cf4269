import { AUTHENTICATION_CODES } from '../errors/catalogue.ts';
import type { CacheTrace, CheckVerdict, StoreRefusal, Trace } from '../model/trace.ts';
import type { UpstreamFailureKind } from '../model/upstream-failure.ts';
import type { Violation } from '../model/violation.ts';

/** The value of the `operation` label for all undocumented paths. */
export const UNDOCUMENTED = 'undocumented';

/** The value of the `operation` label for all operations that have no separate series (see `maxSeries`). */
export const FOLDED = 'folded';

/** The label value for everything that has no label value of its own. */
export const OTHER = 'other';

/** Returns the members of a union in the given order. Omitting a member is a type error. */
const membersOf = <T extends string>(members: Readonly<Record<T, true>>) => Object.keys(members) as T[];

/** The outcomes of a check. */
export const OUTCOMES: readonly string[] = membersOf<CheckVerdict['outcome']>({
  passed: true,
  reported: true,
  refused: true,
  skipped: true,
  failed: true,
});

/** The outcomes of a scan of response bytes. */
export const SCAN_OUTCOMES: readonly string[] = membersOf<NonNullable<Trace['scan']>>({ valid: true, closer: true });

/** The results of a cache lookup. */
export const CACHE_RESULTS: readonly CacheTrace['status'][] = membersOf<CacheTrace['status']>({
  hit: true,
  miss: true,
  stale: true,
  coalesced: true,
  bypass: true,
});

/** The reasons why a fetched response is not stored. */
export const STORE_REFUSALS: readonly StoreRefusal[] = membersOf<StoreRefusal>({
  'no-response': true,
  status: true,
  'set-cookie': true,
  vary: true,
  'content-coding': true,
  'media-type': true,
  'error-inside': true,
  validity: true,
  'outer-form': true,
  'upstream-directive': true,
  unread: true,
  size: true,
  purged: true,
  superseded: true,
});

/** The ways in which the shadow contract's verdict can differ from the live contract's verdict. */
export const SHADOW_DIFFERENCES: readonly string[] = membersOf<NonNullable<Violation['candidate']>>({
  'newly-refused': true,
  'newly-accepted': true,
});

/** The reasons why authentication can fail. */
export const AUTHENTICATION_REASONS: readonly string[] = [...AUTHENTICATION_CODES, 'not_basic', OTHER];

/** The ways in which an exchange with the upstream can fail. */
export const FAILURE_KINDS: readonly string[] = [
  ...membersOf<UpstreamFailureKind>({
    refused: true,
    reset: true,
    truncated: true,
    deadline: true,
    shed: true,
    circuit_open: true,
    too_large: true,
    aborted: true,
  }),
  OTHER,
];

/** The status classes. `aborted` stands for status 0, which means that the client received no response. */
export const STATUS_CLASSES = ['2xx', '3xx', '4xx', '5xx', 'aborted', 'other'] as const;

/** Returns the class of a status. The class of an undefined status is `aborted`. */
export function statusClass(status: number | undefined): (typeof STATUS_CLASSES)[number] {
  if (status === undefined || status === 0) return 'aborted';
  if (status >= 200 && status < 300) return '2xx';
  if (status >= 300 && status < 400) return '3xx';
  if (status >= 400 && status < 500) return '4xx';
  if (status >= 500 && status < 600) return '5xx';
  return 'other';
}
