/** A reason to tolerate silence for longer than the timeout. */
interface SilenceExcuse {
  /** Returns whether this reason currently applies. */
  readonly excused: () => boolean;
  /** How long silence is tolerated for this reason, in milliseconds. */
  readonly patienceMs: number;
}

/** Calls a function when there has been no activity for too long. */
interface SilenceWatch {
  /** Starts or restarts the watch with a timeout. */
  start(timeoutMs: number, excuse?: SilenceExcuse): void;
  /** Records activity, which restarts the timeout. */
  readonly touch: () => void;
  stop(): void;
}

/**
 * Creates a watch that is not yet running. It calls `onSilence` at most once. After that call, or after `stop`, it
 * cannot be restarted.
 */
export function createSilenceWatch(onSilence: (end: 'silence' | 'patience') => void): SilenceWatch {
  let timer: NodeJS.Timeout | undefined;
  let toleratedMs = 0;
  let stopped = false;

  const stop = () => {
    stopped = true;
    clearTimeout(timer);
  };
  const end = (kind: 'silence' | 'patience') => {
    stop();
    onSilence(kind);
  };
  return {
    start(timeoutMs, excuse) {
      if (stopped) return;
      clearTimeout(timer);
      toleratedMs = 0;
      timer = setTimeout(() => {
        if (!excuse?.excused()) return end('silence');
        toleratedMs += timeoutMs;
        if (toleratedMs >= excuse.patienceMs) return end('patience');
        return void timer?.refresh();
      }, timeoutMs);
    },
    touch() {
      toleratedMs = 0;
      if (!stopped) timer?.refresh();
    },
    stop,
  };
}
