/** A fetch of a page by a gateway, as the upstream saw it. */
export interface FillEvent {
  readonly at: number;
  /** The index of the page. */
  readonly page: number;
  /** Whom the page was made for: a caller, a role or everyone. */
  readonly audience: string;
  /** The number of the last write that changed the page before it was read. */
  readonly version: number;
}

/** A write that succeeded. */
export interface WriteEvent {
  /** Writes are numbered in the order in which they took effect at the upstream. */
  readonly number: number;
  readonly tags: readonly string[];
  readonly effectAt: number;
  /** The instant at which the client received the response. From then on, the bounds hold. */
  readonly respondedAt: number;
}

/** A read that got the response that the caller should receive. */
export interface ReadEvent {
  readonly startedAt: number;
  readonly page: number;
  /** The audience whose copy the caller should receive. */
  readonly audience: string;
  /** What the marker in the page contains. */
  readonly seen: { readonly version: number; readonly audience: string; readonly page: number };
  /** The `Cache-Status` header. */
  readonly cache: string;
  /** True if the read measured the arrival of a purge, and is therefore not part of the load. */
  readonly probe: boolean;
}

/** A request whose result was not the expected one. */
export interface FailureEvent {
  readonly startedAt: number;
  readonly endedAt: number;
  readonly method: string;
  readonly what: string;
}

/** How long one purge took to arrive at one gateway. */
export interface ArrivalEvent {
  readonly respondedAt: number;
  readonly gateway: number;
  /** The milliseconds from the response to the write until a read showed the write. Undefined if none did in time. */
  readonly ms: number | undefined;
}

/** A period of the run. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

/** Returns whether the window contains the instant. */
export function isWithin({ from, to }: Window, at: number): boolean {
  return at >= from && at < to;
}

/** Returns milliseconds on the system's monotonic clock, which all processes of the machine share. */
export function now(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
