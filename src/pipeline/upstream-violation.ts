import type { Trace } from '../model/trace.ts';
import { ProbeFailure, UpstreamFailure, type UpstreamFailureKind } from '../model/upstream-failure.ts';
import type { Violation } from '../model/violation.ts';

const MESSAGES: Readonly<Record<Exclude<UpstreamFailureKind, 'aborted'>, string>> = {
  refused: 'The upstream cannot be reached.',
  reset: 'The upstream broke the connection.',
  truncated: 'The upstream broke off in the middle of its answer.',
  deadline: 'The upstream did not answer in time.',
  shed: 'Too many requests wait for the upstream.',
  circuit_open: 'The upstream keeps failing; calls to it are paused.',
  too_large: 'The answer of the upstream is too large.',
};

/** Tells of an exchange that failed; one that the client left is no failure of the upstream. */
export function recordFailure(trace: Pick<Trace, 'violations'>, { kind }: UpstreamFailure): void {
  if (kind !== 'aborted') trace.violations.push(violation(kind, MESSAGES[kind]));
}

/** Tells of an answer whose head came and whose body broke off: the exchange failed, whatever its status said. */
export function endedEarly(trace: Pick<Trace, 'violations' | 'upstream'>, failure: UpstreamFailure): void {
  if (failure.kind === 'aborted') return;
  if (trace.upstream !== undefined) trace.upstream = { ...trace.upstream, status: undefined, shape: failure.kind };
  recordFailure(trace, failure);
}

/**
 * Tells of a status by which the upstream says that it failed. That its body keeps to the contract makes it no success; what
 * is wrong with the body is told elsewhere, and then this is not.
 */
export function recordServerError(trace: Pick<Trace, 'violations'>): void {
  trace.violations.push(violation('server-error', 'The upstream answered that it failed.'));
}

/** Tells of a credential that nobody could verify because the upstream failed: the request goes no further than that. */
export function recordUnverified(trace: Pick<Trace, 'violations'>, cause: unknown): void {
  if (cause instanceof UpstreamFailure) recordFailure(trace, cause);
  else if (cause instanceof ProbeFailure) recordServerError(trace);
}

function violation(keyword: string, message: string): Violation {
  return {
    check: 'upstream',
    direction: 'response',
    category: 'protocol',
    location: 'status',
    at: '',
    keyword,
    schemaPath: '',
    message,
  };
}
