import type { FaultName } from './fault-names.ts';

/** A fault that is switched on. */
export interface Fault {
  readonly name: FaultName;
  readonly parameter?: string;
  /** An operation number, or what the path with its query must match; every request when absent. */
  readonly target?: number | RegExp;
  /** The share of matching requests that it hits, above 0 and up to 1. */
  readonly share: number;
}
