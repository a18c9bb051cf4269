import type { Clock } from '../lib/clock.ts';

/** A process as far as its signals go. */
export interface SignalSource {
  on(signal: 'SIGTERM' | 'SIGINT', listener: () => void): unknown;
  off(signal: 'SIGTERM' | 'SIGINT', listener: () => void): unknown;
}

// Package runners pass on a signal that the terminal has sent to the whole group already.
const ECHO_MS = 500;

/** Resolves at the first SIGTERM or SIGINT; `again` is called at the next one that is no echo of the first. */
export function untilSignal(source: SignalSource, clock: Clock, again: () => void): Promise<void> {
  return new Promise((resolve) => {
    let firstAt: number | undefined;
    const listener = (): void => {
      const now = clock();
      if (firstAt === undefined) {
        firstAt = now;
        resolve();
      } else if (now - firstAt >= ECHO_MS) {
        source.off('SIGTERM', listener);
        source.off('SIGINT', listener);
        again();
      }
    };
    source.on('SIGTERM', listener);
    source.on('SIGINT', listener);
  });
}
