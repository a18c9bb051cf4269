import type { OperationCacheOptions } from '../cache/operation-cache-options.ts';
import type { Checks, ErrorStyle } from '../model/checks.ts';
import type { Operation } from '../model/operation.ts';

/** An operation with everything that configuration decides about it, before its plan is compiled. */
export interface PlannedOperation {
  readonly operation: Operation;
  readonly checks: Checks;
  /** What of these levels is not as configured, in words; for people only. */
  readonly moved?: readonly string[];
  readonly errors: ErrorStyle;
  /** Raw in both directions, as in `observe`. */
  readonly transparent: boolean;
  /** True where a service account stands in for the caller. */
  readonly serviceCredential: boolean;
  readonly maxPageSize: number;
  /** The page size that an absent `pageSize` is known to mean; undefined when nobody knows. */
  readonly defaultPageSize: number | undefined;
  /** Undefined where answers are not kept. */
  readonly cache: OperationCacheOptions | undefined;
}
