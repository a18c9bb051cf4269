const never = () => false;

/** Calls back when nothing has happened for too long. */
export interface SilenceWatch {
  /** Begins anew with another bound; while `excused` answers true, silence is not counted. */
  start(timeoutMs: number, excused?: () => boolean): void;
  /** Something happened. */
  readonly touch: () => void;
  stop(): void;
}

/** Makes a watch that is not started yet; after it has called back or was stopped it starts no more. */
export function createSilenceWatch(onSilence: () => void): SilenceWatch {
  let timer: NodeJS.Timeout | undefined;
  let isExcused = never;
  let stopped = false;

  const stop = () => {
    stopped = true;
    clearTimeout(timer);
  };
  const expire = () => {
    if (isExcused()) timer?.refresh();
    else {
      stop();
      onSilence();
    }
  };
  return {
    start(timeoutMs, excused = never) {
      if (stopped) return;
      clearTimeout(timer);
      isExcused = excused;
      timer = setTimeout(expire, timeoutMs);
    },
    touch: () => void (stopped || timer?.refresh()),
    stop,
  };
}
