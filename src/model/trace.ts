import type { CheckLevel } from './checks.ts';
import type { Decision } from './requirement.ts';
import type { Violation } from './violation.ts';

/** What one check said: `refused` only where it was enforced, `failed` where the check itself broke and decided nothing. */
export interface CheckVerdict {
  readonly level: CheckLevel;
  readonly outcome: 'passed' | 'reported' | 'refused' | 'skipped' | 'failed';
  readonly reason?: string;
}

/** What authentication found. */
export interface AuthenticationTrace extends CheckVerdict {
  readonly principal: 'verified' | 'anonymous' | 'unverified' | 'none';
}

/** What the cache did for this request, in the words of RFC 9211. */
export interface CacheTrace {
  readonly status: 'hit' | 'miss' | 'stale' | 'bypass' | 'coalesced';
  /** Why it was forwarded or bypassed, or which rule let a stale page be served. */
  readonly reason?: string;
  readonly stored?: boolean;
  readonly ageSeconds?: number;
}

/** The exchange with the upstream, when there was one. */
export interface UpstreamTrace {
  /** The upstream's own status; undefined when the transport failed. */
  readonly status: number | undefined;
  /** The shape of an error answer, or how the transport failed. */
  readonly shape: string;
  /** True when the upstream said that this caller lacks a permission. */
  readonly denied?: boolean;
  readonly seconds: number;
  readonly attempts: number;
  /** The `X-Request-Id` that the upstream got, where it is not the client's own. */
  readonly requestId?: string | undefined;
}

/** The reason of a refused answer that is an error with the status of a success. */
export const ERROR_INSIDE = 'error inside';

/** What response validation said of the upstream's answer. */
export interface ResponseTrace extends CheckVerdict {
  readonly verdict: 'valid' | 'violations' | 'skipped';
}

/**
 * Everything that happened to one request: one slot per stage, written by that stage only.
 * Logs, metrics, the ledger and reports read this and nothing else.
 */
export interface Trace {
  readonly requestId: string;
  readonly traceparent: string;
  readonly method: string;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** The operation's id; undefined for undocumented paths. */
  operation?: string | undefined;
  /** The name of the principal, for a log that may show it; a tag stands for it elsewhere. */
  caller?: string | undefined;
  /** How the request went upstream: by its plan or by passthrough; undefined when it never went. */
  route?: 'plan' | 'passthrough' | undefined;
  authentication?: AuthenticationTrace | undefined;
  undocumented?: CheckVerdict | undefined;
  requests?: CheckVerdict | undefined;
  permissions?: (CheckVerdict & { readonly decision?: Decision }) | undefined;
  pageBounds?: CheckVerdict | undefined;
  cache?: CacheTrace | undefined;
  upstream?: UpstreamTrace | undefined;
  responses?: ResponseTrace | undefined;
  /** True for work that no client waits for: a refresh or a comparison. */
  background?: boolean | undefined;
  /** True when the answer holds an absolute address of the legacy host. */
  legacyAddress?: boolean | undefined;
  /** Names of fields that were taken out for this caller. */
  redacted?: readonly string[] | undefined;
  /** The code of the error that was answered, when it was ours. */
  error?: string | undefined;
  /** The cause of an internal error or of a failed check; for the log only. */
  cause?: unknown;
  /** Everything found, in the order it was found. */
  readonly violations: Violation[];
  /** The status that the client got; 0 when the client left first or the connection was broken on purpose. */
  status?: number | undefined;
  /** Bytes of body sent to the client. */
  bytes?: number | undefined;
  /** Seconds from the first byte of the request to the end of the answer. */
  seconds?: number | undefined;
}

/** An empty trace for a request that has just come in. */
export function createTrace(start: Pick<Trace, 'requestId' | 'traceparent' | 'method' | 'startedAt'>): Trace {
  const { requestId, traceparent, method, startedAt } = start;
  // Every slot is there from the start, so that all traces have one shape, whichever way their requests go.
  return {
    requestId,
    traceparent,
    method,
    startedAt,
    violations: [],
    operation: undefined,
    caller: undefined,
    route: undefined,
    authentication: undefined,
    undocumented: undefined,
    requests: undefined,
    permissions: undefined,
    pageBounds: undefined,
    cache: undefined,
    upstream: undefined,
    responses: undefined,
    background: undefined,
    legacyAddress: undefined,
    redacted: undefined,
    error: undefined,
    cause: undefined,
    status: undefined,
    bytes: undefined,
    seconds: undefined,
  };
}
