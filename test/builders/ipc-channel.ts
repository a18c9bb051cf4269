import type { IpcPort } from '../../src/workers/ipc-peer.ts';

/**
 * Creates a channel like the one between two processes, but with both ends in this process. Messages are cloned, as
 * they are between Node processes.
 */
export function ipcChannel(): { readonly ends: readonly [IpcPort, IpcPort]; close(): void } {
  const listeners: ((message: unknown) => void)[][] = [[], []];
  const closers: (() => void)[] = [];
  const end = (own: 0 | 1): IpcPort => ({
    send: (message) => queueMicrotask(() => listeners[1 - own]?.forEach((hear) => hear(structuredClone(message)))),
    onMessage: (listener) => void listeners[own]?.push(listener),
    onClose: (listener) => void closers.push(listener),
  });
  return { ends: [end(0), end(1)], close: () => closers.forEach((close) => close()) };
}
