import type { StreamedBody } from '../model/streamed-body.ts';
import { addIncident, type Trace, type UpstreamTrace } from '../model/trace.ts';
import { ProbeFailure, UpstreamFailure } from '../model/upstream-failure.ts';
import type { Incident } from '../model/violation.ts';
import type { CodingFault } from '../upstream/response-body.ts';
import type { ExceededLimit } from '../upstream/observe-limits.ts';
import { failureText } from '../upstream/failures/transport-failure.ts';

/** Records that a request to the upstream failed. Does nothing if it failed only because the client disconnected. */
export function recordFailure(trace: Pick<Trace, 'incidents' | 'failure'>, failure: UpstreamFailure): void {
  const { kind, facts } = failure;
  if (kind === 'aborted') return;
  trace.failure = facts;
  // A response that the gateway does not read because of its size is not a fault of the server.
  addIncident(trace, incident(kind, failureText(failure), kind === 'too_large' ? 'size' : 'protocol'));
}

/**
 * Records an exchange that ended without a response, and the reason. `exchange` contains the facts that do not depend
 * on the failure.
 */
export function recordFailedExchange(
  trace: Pick<Trace, 'incidents' | 'upstream' | 'failure'>,
  failure: UpstreamFailure,
  exchange: Pick<UpstreamTrace, 'startedAt' | 'seconds' | 'traceparent' | 'sent' | 'requestId'>,
): void {
  trace.upstream = { status: undefined, shape: failure.kind, attempts: 1, ...exchange };
  recordFailure(trace, failure);
}

const LIMITS: Readonly<Record<ExceededLimit, string>> = {
  deadline: 'The upstream responded later than upstream.headersTimeoutMs and upstream.totalTimeoutMs allow.',
  shed: 'More requests were in progress than upstream.concurrency, upstream.queue and upstream.streams allow.',
  circuit_open: 'The upstream had failed so often that requests would have been paused.',
};

/** Records a request that would have been refused if the gateway were not in `observe` mode. */
export function recordExceeded(trace: Pick<Trace, 'incidents'>, limit: ExceededLimit): void {
  addIncident(trace, incident(`over-limit-${limit}`, LIMITS[limit]));
}

/** Records a response whose body was truncated. The request counts as failed regardless of the response's status. */
export function endedEarly(trace: Pick<Trace, 'incidents' | 'upstream' | 'failure'>, failure: UpstreamFailure): void {
  if (failure.kind === 'aborted') return;
  if (trace.upstream !== undefined) trace.upstream = { ...trace.upstream, status: undefined, shape: failure.kind };
  recordFailure(trace, failure);
}

/**
 * Records whether a streamed body was truncated. If that is already known, it is recorded at once.
 */
export function recordEnd(body: StreamedBody, trace: Parameters<typeof endedEarly>[0]): void {
  if (body.failure === undefined) body.onEnd((failure) => failure && endedEarly(trace, failure));
  else endedEarly(trace, body.failure);
}

/**
 * Records that the upstream reported a server error. The response counts as a failure even when its body is valid. If
 * the body violates the contract, the violations are recorded instead, and the ledger counts them as a failure.
 */
export function recordServerError(trace: Pick<Trace, 'incidents'>): void {
  addIncident(trace, incident('server-error', 'The upstream reported a server error.'));
}

const CODINGS: Readonly<Record<CodingFault, string>> = {
  mislabelled: 'The body does not have the content coding that Content-Encoding states.',
  unsupported: 'The body has a content coding that Portico did not ask for and cannot remove.',
};

/** Records a complete response whose content coding cannot be removed. The exchange itself has not failed. */
export function recordCodingFault(trace: Pick<Trace, 'violations'>, fault: CodingFault): void {
  trace.violations.push({
    check: 'responses',
    direction: 'response',
    category: 'coding',
    location: 'header',
    at: 'content-encoding',
    keyword: `coding-${fault}`,
    schemaPath: '',
    message: CODINGS[fault],
  });
}

/** The maximum number of dropped headers to report for one response. */
const MAX_DROPPED = 16;

/** Records the headers of a response that clients would not receive outside `observe` mode. */
export function recordDroppedHeaders(trace: Pick<Trace, 'violations'>, names: readonly string[]): void {
  for (const at of names.slice(0, MAX_DROPPED))
    trace.violations.push({
      check: 'responses',
      direction: 'response',
      category: 'advisory',
      location: 'header',
      at,
      keyword: 'header-dropped',
      schemaPath: '',
      message: 'Clients receive this header only in observe mode, because it is not in upstream.responseHeaders.',
    });
}

/** Records that a credential could not be verified because the upstream failed. The request ends with an error. */
export function recordUnverified(trace: Pick<Trace, 'incidents' | 'failure'>, cause: unknown): void {
  if (cause instanceof UpstreamFailure) recordFailure(trace, cause);
  else if (cause instanceof ProbeFailure) recordServerError(trace);
}

function incident(keyword: string, message: string, category: Incident['category'] = 'protocol'): Incident {
  return {
    check: 'upstream',
    direction: 'response',
    category,
    location: 'status',
    at: '',
    keyword,
    schemaPath: '',
    message,
  };
}
