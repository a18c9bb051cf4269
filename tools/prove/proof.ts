/** The result of one row of `npm run prove`. */
export interface ProofResult {
  /** The number of cases: tests, requests, connections or mutations. */
  readonly cases: number;
  /** What went wrong. The row is green if this list is empty. */
  readonly faults: readonly string[];
  /** A phrase that states the measured values. Empty if nothing was measured. */
  readonly figures: string;
}

/** How long the load scenarios run, and where they report progress. */
export interface ProofContext {
  readonly soakSeconds: number;
  readonly loadSeconds: number;
  tick(text: string): void;
}

/** One row in the table: a guarantee, and how it is tested. */
export interface Proof {
  readonly id: string;
  /** The guarantee. */
  readonly holds: string;
  /** How the guarantee is tested. */
  readonly tried: string;
  /** The test files or programs that the row runs, relative to the repository root. */
  readonly files: readonly string[];
  readonly run: (context: ProofContext) => Promise<ProofResult>;
}

/** Describes wrong responses or lost requests, with one line for each distinct message and its count. */
export function describeCounts(title: string, counts: ReadonlyMap<string, number>): string[] {
  return [...counts].map(([text, count]) => `${title}: ${text} (${count} ×)`);
}

/** Returns a number with thousands separators. */
export function grouped(value: number, digits = 0): string {
  return value.toLocaleString('en', { maximumFractionDigits: digits, minimumFractionDigits: digits });
}

/** Resolves after a number of milliseconds. */
export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}
