import type { ErrorCode } from '../../engine/errors/catalogue.ts';
import type { Trace } from '../../engine/model/trace.ts';
import type { Sample } from './watch.ts';

/** The error of a caller whose credential the server does not know. */
const REFUSED: ErrorCode = 'credentials_refused';

/**
 * Returns what a finished request says about the server that served it. Returns undefined if that server was not asked:
 * the page was stored, another request has fetched it, or the request was refused before.
 */
export function sampleOf(trace: Trace): Sample | undefined {
  const { side, upstream, failure, responses, cache, operation, error, status = 0 } = trace;
  if (side === undefined || cache?.status === 'coalesced') return undefined;
  const isUnknownHere = error === REFUSED;
  // Requests that are refused because the server keeps failing are failures, too.
  const isPaused = status >= 500 && (error?.startsWith('upstream_') ?? false);
  if (upstream === undefined && failure === undefined && !isUnknownHere && !isPaused) return undefined;
  // The client has gone away, which says nothing about the server.
  if (upstream?.shape === 'aborted') return undefined;
  const received = upstream?.status;
  return {
    side: side.isSecond ? 'new' : 'old',
    operation,
    failed: failure !== undefined || (received === undefined ? !isUnknownHere : received >= 500) || isPaused,
    violated: responses?.outcome === 'reported' || responses?.outcome === 'refused',
    refused: isUnknownHere || (received !== undefined && received >= 400 && received < 500),
    seconds: received === undefined ? undefined : upstream?.seconds,
  };
}
