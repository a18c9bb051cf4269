import type { Clock } from '../lib/clock.ts';

/**
 * Creates a function that returns the current time in ISO 8601; the text is cached, since many lines share one
 * millisecond.
 */
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
