import type { Trace } from '../model/trace.ts';

/**
 * An observer that receives the trace of every finished request: metrics, the ledger, the ladder, the shadow contract.
 */
export interface TraceObserver {
  /** The name used in the log if the observer fails. */
  readonly name: string;
  readonly record: (trace: Trace) => void;
}

/**
 * Returns a function that passes a trace to each observer in order. If an observer throws, the error is reported and
 * the other observers still run.
 */
export function createTraceRecorder(
  observers: readonly TraceObserver[],
  onFailure: (name: string, error: unknown) => void,
): (trace: Trace) => void {
  return (trace) => {
    for (const { name, record } of observers) {
      try {
        record(trace);
      } catch (error) {
        onFailure(name, error);
      }
    }
  };
}
