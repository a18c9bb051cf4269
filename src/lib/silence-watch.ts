/** What a watch may overlook. */
export interface SilenceExcuse {
  /** While this answers true, the silence is somebody else's. */
  readonly excused: () => boolean;
  /** For how long such a silence is overlooked at most. */
  readonly patienceMs: number;
}

/** Calls back when nothing has happened for too long. */
export interface SilenceWatch {
  /** Begins anew with another bound. */
  start(timeoutMs: number, excuse?: SilenceExcuse): void;
  /** Something happened. */
  readonly touch: () => void;
  stop(): void;
}

/** Makes a watch that is not started yet; once it has called back or was stopped it starts no more. */
export function createSilenceWatch(onSilence: (end: 'silence' | 'patience') => void): SilenceWatch {
  let timer: NodeJS.Timeout | undefined;
  let overlookedMs = 0;
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
      overlookedMs = 0;
      timer = setTimeout(() => {
        if (!excuse?.excused()) return end('silence');
        overlookedMs += timeoutMs;
        if (overlookedMs >= excuse.patienceMs) return end('patience');
        return void timer?.refresh();
      }, timeoutMs);
    },
    touch() {
      overlookedMs = 0;
      if (!stopped) timer?.refresh();
    },
    stop,
  };
}
