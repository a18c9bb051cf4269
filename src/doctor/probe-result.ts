import type { Severity } from '../model/severity.ts';

/** A fact about the server that an operator should know, or a problem that the operator should fix. */
export interface DoctorFinding {
  readonly severity: Severity;
  /** A description of what was measured. */
  readonly text: string;
  /** What this means for Portico and what the operator should do. */
  readonly advice: string;
}

/** A recommended value for a configuration key. */
export interface Recommendation {
  /** The dotted key, such as `upstream.idleTimeoutMs`. */
  readonly key: string;
  readonly value: unknown;
  readonly reason: string;
}

/** The result of a probe. */
export interface ProbeResult {
  /** Sentences that describe what was measured. */
  readonly facts: readonly string[];
  readonly findings?: readonly DoctorFinding[];
  readonly recommendations?: readonly Recommendation[];
}

/** Returns the findings or recommendations that apply. Each item is written as `condition && item`. */
export function applicable<Item extends object>(items: readonly (Item | false)[]): readonly Item[] {
  return items.filter((item) => item !== false);
}
