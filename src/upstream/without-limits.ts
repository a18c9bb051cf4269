import type { UpstreamOptions } from './upstream-options.ts';

// Longer than any client waits, and within the 24 days that Node's timers allow.
const DAY_MS = 86_400_000;
const ENDLESS = 1_000_000_000;
// Each stream buffers at most 64 KiB, so together these streams use at most 256 MiB.
const MAX_STREAMS = 4096;

/**
 * Returns options that prevent timeouts, the queue and the circuit from ever affecting a request. The only remaining
 * limits are those that protect memory: the maximum size of a response, and a generous maximum number of streams.
 */
export function withoutLimits(options: UpstreamOptions): UpstreamOptions {
  return {
    ...options,
    connectTimeoutMs: DAY_MS,
    headersTimeoutMs: DAY_MS,
    bodyTimeoutMs: DAY_MS,
    totalTimeoutMs: DAY_MS,
    clientTimeoutMs: DAY_MS,
    concurrency: ENDLESS,
    streams: { total: MAX_STREAMS, perCaller: MAX_STREAMS, perAddress: MAX_STREAMS },
    circuit: { ...options.circuit, failures: ENDLESS },
  };
}
