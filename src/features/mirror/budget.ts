import type { Clock } from '../../lib/clock.ts';
import type { MirrorOptions } from './options.ts';

/** What the mirror may still use. */
export interface Budget {
  /** Takes one request. Returns false if there is none, or if the second server has sent too much of late. */
  take(): boolean;
  /** Counts bytes that the second server has sent. They may exceed the budget, which then has to recover. */
  spend(bytes: number): void;
  /** Returns the time until `take` can succeed, in milliseconds. */
  waitMs(): number;
}

/** Creates a full budget, which is enough for one second. */
export function createBudget({ requestsPerSecond, bytesPerSecond }: MirrorOptions['budget'], clock: Clock): Budget {
  const most = Math.max(1, requestsPerSecond);
  let requests = most;
  let bytes = bytesPerSecond;
  let filledAt = clock();
  const fill = () => {
    const now = clock();
    const seconds = Math.max(0, now - filledAt) / 1000;
    filledAt = now;
    requests = Math.min(most, requests + seconds * requestsPerSecond);
    bytes = Math.min(bytesPerSecond, bytes + seconds * bytesPerSecond);
  };
  return {
    take() {
      fill();
      if (requests < 1 || bytes <= 0) return false;
      requests -= 1;
      return true;
    },
    spend(sent) {
      bytes -= sent;
    },
    waitMs() {
      fill();
      const forRequest = requests >= 1 ? 0 : ((1 - requests) / requestsPerSecond) * 1000;
      const forBytes = bytes > 0 ? 0 : ((1 - bytes) / bytesPerSecond) * 1000;
      return Math.ceil(Math.max(forRequest, forBytes));
    },
  };
}
