import type { CheckName } from './checks.ts';

/**
 * The categories of violations, from most to least serious. An `undocumented` violation never causes a refusal.
 * Anything that the contract does not allow and that can be refused is `not-allowed`.
 */
export const VIOLATION_CATEGORIES = [
  'protocol',
  'missing',
  'type',
  'format',
  'enum',
  'bounds',
  'not-allowed',
  'semantic',
  'permission-mismatch',
  'advisory',
  'undocumented',
] as const;

/** The name of a violation category. */
export type ViolationCategory = (typeof VIOLATION_CATEGORIES)[number];

/** The part of a message in which a violation was found. */
export type ViolationLocation = 'path' | 'query' | 'header' | 'body' | 'status' | 'method';

/** One difference between a message and the contract. It never contains a value from the message. */
export interface Violation {
  /** The check that found the violation, or `upstream` for a failed exchange that no check reported. */
  readonly check: CheckName | 'upstream';
  readonly direction: 'request' | 'response';
  readonly category: ViolationCategory;
  readonly location: ViolationLocation;
  /** The name of a parameter, or a JSON pointer into the body (`/list/0/id`). Empty for an entire message part. */
  readonly at: string;
  /** The schema keyword that was violated, or the name of the rule. */
  readonly keyword: string;
  /** The JSON pointer to the keyword in the generated schema. Empty for rules that are implemented in code. */
  readonly schemaPath: string;
  /** A description of the violation in one sentence that does not contain any value from the message. */
  readonly message: string;
  /** The name that the sender probably meant. */
  readonly suggestion?: string;
  /** A description of the value that does not reveal it, such as its type, its length or its form. */
  readonly found?: string;
  /** Set for a difference that the shadow contract found: a violation that it would newly refuse or newly accept. */
  readonly candidate?: 'newly-refused' | 'newly-accepted';
}

/** The keyword of a violation for a field that the contract does not document. */
export const UNDOCUMENTED_FIELD = 'undocumented-field';

/**
 * Returns whether a violation is only counted and reported, which means that it neither causes a refusal nor prevents a
 * response from being stored. This applies to undocumented fields and to everything that the contract expects but does
 * not require.
 */
export function isAdvisory({ category, keyword }: Pick<Violation, 'category' | 'keyword'>): boolean {
  return category === 'advisory' || keyword === UNDOCUMENTED_FIELD;
}

/**
 * Returns the severity of a violation as a number. 0 is the most serious category. Advisories always have the highest
 * number, regardless of their category. `Contract-Status` and all reports use this order.
 */
export function severityOf(violation: Pick<Violation, 'category' | 'keyword'>): number {
  return isAdvisory(violation) ? VIOLATION_CATEGORIES.length : VIOLATION_CATEGORIES.indexOf(violation.category);
}

/** A place where a scan found that an expected field is absent or that a string has an unexpected form. */
export interface Departure {
  /** The names and indices that lead to the field. */
  readonly path: readonly (string | number)[];
  /** The string with the unexpected form. Undefined if the field is absent. */
  readonly text: string | undefined;
}

/** The differences from the contract that a scan found in a valid body. */
export interface ScannedDifferences {
  /**
   * The body reduced to its undocumented fields, or undefined if there are none. Of several places that differ only in
   * array indices, only the first is included. The value of an integer may be the one that it had in an earlier body.
   */
  readonly undocumented: unknown;
  /** The absent fields and the strings with an unexpected form. For each place, only the first is included. */
  readonly departures: readonly Departure[];
}
