import type { CheckLevel, JudgedName } from './checks.ts';
import type { FailureFacts } from './failure-cause.ts';
import type { Decision } from './operation.ts';
import type { Incident, Violation } from './violation.ts';

/**
 * The verdict of one check. `refused` occurs only if the check is enforced. `failed` means that the check did not reach
 * a verdict because of an internal error.
 */
export interface CheckVerdict {
  readonly level: CheckLevel;
  readonly outcome: 'passed' | 'reported' | 'refused' | 'skipped' | 'failed';
  readonly reason?: string;
}

/** The verdict of authentication. */
export interface AuthenticationTrace extends CheckVerdict {
  readonly principal: 'verified' | 'anonymous' | 'unverified' | 'none';
}

/**
 * The reason why a fetched response is not stored. `no-response`: the upstream did not respond. `unread`: the body was
 * not read into memory. `size`: the response exceeds `cache.maxEntryBytes`. `purged`: its page was purged while it was
 * being fetched. `superseded`: a later fetch was stored first. The others name what forbids storing the response.
 */
export type StoreRefusal =
  | 'no-response'
  | 'status'
  | 'set-cookie'
  | 'vary'
  | 'content-coding'
  | 'media-type'
  | 'error-inside'
  | 'validity'
  | 'outer-form'
  | 'upstream-directive'
  | 'unread'
  | 'size'
  | 'purged'
  | 'superseded';

/** How the cache handled the request, in RFC 9211 terms. */
export interface CacheTrace {
  readonly status: 'hit' | 'miss' | 'stale' | 'bypass' | 'coalesced';
  /** Why the request was forwarded or bypassed the cache, or which rule permitted a stale response. */
  readonly reason?: string;
  readonly stored?: boolean;
  /** Why the response that was fetched for this request is not stored. */
  readonly notStored?: StoreRefusal;
  readonly ageSeconds?: number;
  /** True if the page came from the cache that several gateways share. */
  readonly shared?: boolean;
}

/** One attempt to send a request to the upstream. Attempts are recorded only if spans are exported. */
export interface Attempt {
  /** When the attempt started, in epoch milliseconds. */
  readonly startedAt: number;
  /** When the response was available or the attempt failed, in epoch milliseconds. */
  readonly endedAt: number;
  /** The `traceparent` header that was sent. */
  readonly traceparent: string;
  /** The host and port that were used. Undefined unless the upstream has several addresses. */
  readonly address: string | undefined;
  /** Why there was no response. Undefined if there was a response. */
  readonly failure: string | undefined;
}

/** The attempts of a single exchange, in order. */
export interface AttemptLog {
  readonly attempts: Attempt[];
  /** Returns the `traceparent` header of the next attempt. */
  next(): string;
}

/** The exchange with the upstream. */
export interface UpstreamTrace {
  /** The status that the upstream sent. Undefined if there was a transport failure. */
  readonly status: number | undefined;
  /** The form of an error response, or the way the transport failed. */
  readonly shape: string;
  /** True if the upstream reported that the caller lacks a permission. */
  readonly denied?: boolean;
  /** When the exchange started, in epoch milliseconds. */
  readonly startedAt?: number;
  readonly seconds: number;
  readonly attempts: number;
  /** The `traceparent` header of the first attempt. */
  readonly traceparent?: string;
  /** Every attempt to send the request. Undefined if the attempts were not recorded. */
  readonly sent?: readonly Attempt[] | undefined;
  /** The `X-Request-Id` header that was sent to the upstream. Undefined if it is the same as the client's. */
  readonly requestId?: string | undefined;
}

/**
 * The reason for refusing a response that contains an error even though its status indicates success, and the form of
 * such a response.
 */
export const ERROR_INSIDE = 'error inside';

/** The reasons why a response was not checked, which the header `Contract-Status` shows (docs/ledger.md). */
export const SKIP_REASONS = ['off', 'size', 'truncated', 'coding', 'head', 'wrap', 'v1', 'error'] as const;

/** A reason why a response was not checked. */
export type SkipReason = (typeof SKIP_REASONS)[number];

/** The verdict of response validation. */
export interface ResponseTrace extends CheckVerdict {
  readonly verdict: 'valid' | 'violations' | 'skipped';
  readonly reason?: SkipReason | typeof ERROR_INSIDE;
}

/** The verdict of permissions. */
interface PermissionsTrace extends CheckVerdict {
  readonly decision?: Decision;
}

/**
 * The verdict of the translation of errors: whether it changes the status of the upstream's response, or would change it.
 */
export interface ErrorsTrace extends CheckVerdict {
  /** The status that the upstream's status is changed to, or would be. Undefined if the status stays the same. */
  readonly changedTo?: number;
}

/** The verdicts that contain more than a level and an outcome. */
interface LongVerdicts {
  readonly authentication: AuthenticationTrace;
  readonly permissions: PermissionsTrace;
  readonly responses: ResponseTrace;
  readonly errors: ErrorsTrace;
}

/** The verdict of each check. Undefined until the check has been applied. */
type Verdicts = {
  [Name in JudgedName]?: (Name extends keyof LongVerdicts ? LongVerdicts[Name] : CheckVerdict) | undefined;
};

/** One of two upstreams. The engine knows it only by its name. */
export interface Side {
  readonly name: string;
  readonly isSecond: boolean;
}

/**
 * A record of how one request was handled. It is the only source for logs, metrics, the ledger and reports. Each stage
 * sets its own properties.
 */
export interface Trace extends Verdicts {
  readonly requestId: string;
  /** Portico's own span for the request, in the format of the W3C header. */
  readonly traceparent: string;
  /** The id of the caller's span. Undefined if Portico started the trace. */
  readonly parentSpanId: string | undefined;
  readonly method: string;
  /** When the request was received, in epoch milliseconds. */
  readonly startedAt: number;
  /**
   * The target as received. Undefined if the gateway made the request itself. Because the target may contain personal
   * data, only the access log reads it, and logs only its structure.
   */
  readonly target: string | undefined;
  /** The operation's id. Undefined for undocumented paths. */
  operation?: string | undefined;
  /**
   * The principal's name. It appears only in logs that may contain names. Everywhere else, it is replaced with a tag.
   */
  caller?: string | undefined;
  /** The upstream that serves the request. Undefined unless a feature uses a second one. */
  side?: Side | undefined;
  /** How the request was forwarded. Undefined if it was not forwarded. */
  route?: 'plan' | 'passthrough' | undefined;
  cache?: CacheTrace | undefined;
  upstream?: UpstreamTrace | undefined;
  /**
   * The trace of the request whose response this request received. Undefined if the request was not coalesced with
   * another, or if spans are not exported.
   */
  leader?: Trace | undefined;
  /** Why an exchange with the upstream failed. An attempt to verify a credential is also an exchange. */
  failure?: FailureFacts | undefined;
  /** The result of scanning the bytes of the response. Undefined if the response was not scanned. */
  scan?: 'valid' | 'closer' | undefined;
  /** True for background work, such as a refresh or a comparison. No client is waiting for it. */
  background?: boolean | undefined;
  /**
   * True for background work about a client's request that has a trace of its own, which counts the exchange with the
   * upstream. The violations are attributed to the request's caller.
   */
  comparison?: boolean | undefined;
  /** The number of response headers that clients do not receive or, in `observe` mode, would not receive. */
  droppedHeaders?: number | undefined;
  /** True if the response contains an absolute address of the legacy host. */
  legacyAddress?: boolean | undefined;
  /** The names of the fields that were removed for this caller. */
  redacted?: readonly string[] | undefined;
  /** The features' own values; see `createTraceSlot`. */
  slots: unknown[] | undefined;
  /** The error code of the reply. Undefined unless the reply is one of Portico's own errors. */
  error?: string | undefined;
  /** The status of the upstream's response that the error replaces. Undefined unless it replaces one. */
  replacedStatus?: number | undefined;
  /** The cause of an internal error or of a failed check. It appears only in the log. */
  cause?: unknown;
  /** All violations, in the order in which they were found. */
  readonly violations: Violation[];
  /** What was recorded in addition to violations, in the order in which it occurred. Undefined if there is nothing. */
  incidents?: Incident[] | undefined;
  /**
   * The status of the reply. 0 if the client disconnected before receiving the reply, or if Portico deliberately closed
   * the connection.
   */
  status?: number | undefined;
  /** The number of body bytes sent to the client. */
  bytes?: number | undefined;
  /** The time from the first byte of the request to the end of the reply, in seconds. */
  seconds?: number | undefined;
}

/** Creates an empty trace for a new request. */
export function createTrace(
  start: Pick<Trace, 'requestId' | 'traceparent' | 'method' | 'startedAt'> &
    Partial<Pick<Trace, 'target' | 'parentSpanId'>>,
): Trace {
  const { requestId, traceparent, parentSpanId, method, startedAt, target } = start;
  // All properties are set here so that all traces share one hidden class.
  const trace = {
    requestId,
    traceparent,
    parentSpanId,
    method,
    startedAt,
    target,
    violations: [],
    operation: undefined,
    caller: undefined,
    side: undefined,
    route: undefined,
    authentication: undefined,
    undocumented: undefined,
    requests: undefined,
    permissions: undefined,
    pageBounds: undefined,
    errors: undefined,
    cache: undefined,
    upstream: undefined,
    leader: undefined,
    failure: undefined,
    responses: undefined,
    scan: undefined,
    background: undefined,
    comparison: undefined,
    droppedHeaders: undefined,
    legacyAddress: undefined,
    redacted: undefined,
    slots: undefined,
    error: undefined,
    replacedStatus: undefined,
    incidents: undefined,
    cause: undefined,
    status: undefined,
    bytes: undefined,
    seconds: undefined,
  } satisfies Readonly<Record<keyof Trace, unknown>>;
  return trace;
}

/**
 * Calls `visit` with each verdict that a trace has. The properties are read by their names, because looking them up by a
 * variable name is slow.
 */
export function eachVerdict(trace: Trace, visit: (name: JudgedName, verdict: CheckVerdict) => void): void {
  if (trace.authentication !== undefined) visit('authentication', trace.authentication);
  if (trace.requests !== undefined) visit('requests', trace.requests);
  if (trace.responses !== undefined) visit('responses', trace.responses);
  if (trace.permissions !== undefined) visit('permissions', trace.permissions);
  if (trace.pageBounds !== undefined) visit('pageBounds', trace.pageBounds);
  if (trace.undocumented !== undefined) visit('undocumented', trace.undocumented);
  if (trace.errors !== undefined) visit('errors', trace.errors);
}

/** Creates the trace of background work that found these violations in a client's request or in its response. */
export function comparisonTrace(request: Trace, violations: readonly Violation[]): Trace {
  const trace = createTrace(request);
  trace.violations.push(...violations);
  trace.operation = request.operation;
  trace.caller = request.caller;
  trace.side = request.side;
  trace.upstream = request.upstream;
  trace.background = true;
  trace.comparison = true;
  return trace;
}

/** Records something that is not a violation of the contract. */
export function addIncident(trace: Pick<Trace, 'incidents'>, incident: Incident): void {
  trace.incidents ??= [];
  trace.incidents.push(incident);
}

/** Returns the verdict of a check, given its level and the violations that it found. */
export function toVerdict(
  level: CheckLevel,
  violations: readonly Violation[],
): CheckVerdict & Pick<ResponseTrace, 'reason'> {
  if (level === 'off') return { level, outcome: 'skipped', reason: 'off' };
  if (violations.length === 0) return { level, outcome: 'passed' };
  return { level, outcome: level === 'enforce' ? 'refused' : 'reported' };
}

/** Returns the verdict of a check that failed because of an internal error. `level` is the level of the check. */
export function failedVerdict(
  level: CheckLevel,
): CheckVerdict & { readonly outcome: 'failed'; readonly reason: 'error' } {
  return { level, outcome: 'failed', reason: 'error' };
}

/**
 * Records that a check failed because of an internal error. The failure is logged and counted in the metrics, and the
 * exchange continues without a verdict from this check.
 */
export function checkFailed(trace: Trace, check: JudgedName, level: CheckLevel, error: unknown): void {
  trace.cause ??= error;
  const failed = failedVerdict(level);
  if (check === 'responses') trace.responses = { ...failed, verdict: 'skipped' };
  else if (check === 'authentication') return;
  else trace[check] = failed;
}
