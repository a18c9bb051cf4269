import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves after the given number of milliseconds, or as soon as the signal is aborted. Never rejects. */
export async function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
  if (ms > 0) await sleep(ms, undefined, { signal }).catch(() => undefined);
}

/** Like `pauseFor`, for background work: the pause does not keep the process running. */
export async function pauseUnref(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
}
