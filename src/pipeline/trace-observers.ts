import type { Trace } from '../model/trace.ts';

/** Receives the trace of every finished request: metrics, the ledger, the ladder, the shadow contract. */
export interface TraceObserver {
  /** Named in the log when the observer fails. */
  readonly name: string;
  readonly record: (trace: Trace) => void;
}

/** Returns a function that gives a trace to each observer in order. An observer that throws is reported and does not stop the others. */
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
