import type { Trace } from '../model/trace.ts';

/**
 * The trace of a walk's request without what only tells about the request itself: a walk asks for things on purpose that
 * its caller may not see or that do not exist, and that is no difference between the upstream and the contract.
 */
export function withoutOwnFaults(trace: Trace): Trace {
  return {
    ...trace,
    requests: settled(trace.requests),
    pageBounds: settled(trace.pageBounds),
    permissions: settled(trace.permissions),
    violations: trace.violations.filter(
      ({ direction, category }) => direction === 'response' || category === 'permission-mismatch',
    ),
  };
}

/** A verdict on what the walk itself asked for is none that a level could be judged by. */
function settled<Verdict extends { readonly outcome: string }>(verdict: Verdict | undefined) {
  return verdict?.outcome === 'reported' ? { ...verdict, outcome: 'skipped' as const, reason: 'walk' } : verdict;
}
