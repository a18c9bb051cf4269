/** Says when a person or a supervisor wants a long command to end early. */
export interface Interruption {
  readonly signal: AbortSignal;
  /** Leaves the signals of the process to others again. */
  release(): void;
}

/** Aborts its signal at the first SIGINT or SIGTERM; the one after that ends the process as ever. */
export function untilInterrupted(): Interruption {
  const controller = new AbortController();
  const stop = () => controller.abort();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  return {
    signal: controller.signal,
    release: () => void process.off('SIGINT', stop).off('SIGTERM', stop),
  };
}
