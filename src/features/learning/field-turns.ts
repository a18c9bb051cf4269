/** The number of responses per operation and release whose fields are all sampled. */
const ENOUGH = 64;
/** After that, the interval in milliseconds between two sampled responses to an operation. */
const SAMPLE_MS = 10_000;

/** Decides which responses have their fields sampled. It survives reloads. */
export interface FieldTurns {
  /**
   * Returns whether to sample the fields of an operation's response that was received at a time, in epoch milliseconds.
   * With a new release, counting starts again, so the fields of its first responses are all sampled.
   */
  take(release: string, operation: string, now: number): boolean;
}

/** Creates the turns of all operations. */
export function createFieldTurns(): FieldTurns {
  let current: string | undefined;
  const sampled = new Map<string, { count: number; dueAt: number }>();
  return {
    take(release, operation, now) {
      if (release !== current) sampled.clear();
      current = release;
      let turns = sampled.get(operation);
      if (turns === undefined) sampled.set(operation, (turns = { count: 0, dueAt: 0 }));
      if (now < turns.dueAt) return false;
      turns.count += 1;
      if (turns.count >= ENOUGH) turns.dueAt = now + SAMPLE_MS;
      return true;
    },
  };
}
