/**
 * The part of `AbortSignal` that reports that a caller is no longer waiting. Creating a real signal for every request
 * would be too slow.
 */
export interface Cancellation {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}
