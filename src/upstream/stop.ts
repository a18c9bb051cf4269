import type { UpstreamFailure } from '../model/upstream-failure.ts';

/** Ends one exchange before its answer is whole; an AbortController that costs next to nothing. */
export interface Stop {
  /** Why it was ended; undefined while it may go on. */
  readonly reason: UpstreamFailure | undefined;
  /** Ends it; only the first reason counts. */
  stop(reason: UpstreamFailure): void;
  /** Calls back once when it is ended later; whoever calls this looks at `reason` first. Undefined calls nobody any more. */
  listen(onStop: ((reason: UpstreamFailure) => void) | undefined): void;
}

/** Makes a stop for one exchange; the sendings of the exchange listen to it one after another. */
export function createStop(): Stop {
  let given: UpstreamFailure | undefined;
  let listener: ((reason: UpstreamFailure) => void) | undefined;
  return {
    get reason() {
      return given;
    },
    stop(reason) {
      if (given) return;
      given = reason;
      listener?.(reason);
    },
    listen(onStop) {
      listener = onStop;
    },
  };
}
