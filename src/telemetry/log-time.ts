import type { Clock } from '../lib/clock.ts';

/** Makes the time of log lines, in ISO 8601; many lines fall into one millisecond, so that its text is made once. */
export function createLogTime(clock: Clock): () => string {
  let now = Number.NaN;
  let text = '';
  return () => {
    const at = clock();
    if (at !== now) {
      now = at;
      text = new Date(at).toISOString();
    }
    return text;
  };
}
