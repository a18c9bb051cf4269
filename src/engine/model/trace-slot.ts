import type { Trace } from './trace.ts';

/** A feature's own place in the trace of a request. */
export interface TraceSlot<T> {
  get(trace: Pick<Trace, 'slots'>): T | undefined;
  set(trace: Pick<Trace, 'slots'>, value: T): void;
}

let slots = 0;

/** Creates a slot. Each feature creates its slots once, when its module is loaded. */
export function createTraceSlot<T>(): TraceSlot<T> {
  const index = slots;
  slots += 1;
  return {
    get: ({ slots: values }) => values?.[index] as T | undefined,
    set(trace, value) {
      trace.slots ??= [];
      trace.slots[index] = value;
    },
  };
}
