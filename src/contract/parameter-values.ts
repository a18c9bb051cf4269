import type { Projection } from './projection.ts';

/** The parameters of a request, decoded; those that were wrong are left out. */
export interface ParameterValues {
  /** Decoded path parameters by name. */
  readonly path: Readonly<Record<string, string>>;
  /** Every query parameter that was sent, decoded, unknown ones too. */
  readonly query: ReadonlyMap<string, readonly string[]>;
  readonly page: number | undefined;
  readonly pageSize: number | undefined;
  readonly sort: string | undefined;
  /** Digits, as 64-bit integers do not fit into a number. */
  readonly spaceId: string | undefined;
  /** Undefined when the whole fields were asked for. */
  readonly projection: Projection | undefined;
  /** True lists follow relations (10 and 14). */
  readonly details: boolean;
  /** False lists inactive relations too (10 and 14). */
  readonly active: boolean;
  /** True when `wrap` was sent with any value; its meaning was not shown. */
  readonly wrap: boolean;
  /** True when `v1` was sent with any value; its meaning was not shown. */
  readonly v1: boolean;
}
