/** A fetch of a page by a gateway, as recorded by the upstream. */
export interface FillEvent {
  readonly at: number;
  /** The index of the page in the workload. */
  readonly page: number;
  /** Who the page was generated for: a caller, a role, or everyone. */
  readonly audience: string;
  /** The number of the latest write that had changed the page by the time the upstream read it. */
  readonly version: number;
}

/** A write that succeeded. */
export interface WriteEvent {
  /** Writes are numbered in the order in which they took effect at the upstream. */
  readonly number: number;
  readonly tags: readonly string[];
  readonly effectAt: number;
  /** When the client received the response. The bounds apply from that time. */
  readonly respondedAt: number;
}

/** A read: what the caller received, and whose copy the caller should have received. */
export interface ReadEvent {
  readonly startedAt: number;
  readonly page: number;
  /** The audience whose copy the caller should have received. */
  readonly audience: string;
  /** The values with which the upstream replaced the page's placeholder. */
  readonly seen: { readonly version: number; readonly audience: string; readonly page: number };
  /** The `Cache-Status` header. */
  readonly cache: string;
  /** True if the read only measures how fast a purge arrives. Such reads are not part of the load. */
  readonly probe: boolean;
}

/** A request that did not produce the expected result. */
export interface FailureEvent {
  readonly startedAt: number;
  readonly endedAt: number;
  readonly method: string;
  readonly what: string;
}

/** The time that one purge took to reach one gateway. */
export interface ArrivalEvent {
  readonly respondedAt: number;
  readonly gateway: number;
  /**
   * The milliseconds between the response to the write and the first read that showed the new version. Undefined if no
   * read showed it in time.
   */
  readonly ms: number | undefined;
}

/** A period within a run. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

/** Returns whether the window contains the instant. */
export function isWithin({ from, to }: Window, at: number): boolean {
  return at >= from && at < to;
}

/**
 * Returns the time on the system's monotonic clock in milliseconds. The clock is the same for all processes on the
 * machine.
 */
export function now(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
