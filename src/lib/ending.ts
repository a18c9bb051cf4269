/** That somebody no longer waits: what is used of an AbortSignal, of which one for each request would cost too much. */
export interface Ending {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}
