import type { JudgedName } from './checks.ts';

/**
 * The categories of violations, from the most to the least serious. An `undocumented` violation never causes a refusal.
 * `not-allowed` covers everything outside the contract that can cause a refusal. `size` is a limit of the gateway that
 * a response exceeds, which is not a fault of the server.
 */
export const VIOLATION_CATEGORIES = [
  'protocol',
  'coding',
  'missing',
  'type',
  'format',
  'enum',
  'bounds',
  'not-allowed',
  'semantic',
  'permission',
  'permission-mismatch',
  'size',
  'difference',
  'release-drift',
  'rehearsal',
  'advisory',
  'undocumented',
] as const;

/**
 * The category of differences between two releases of the legacy server. They are found when statistics are compared,
 * never in a message, so they can neither refuse a message nor keep a response from being stored.
 */
export const RELEASE_DRIFT = 'release-drift';

/**
 * The category of differences between the responses of two servers to the same request. They are found when the servers
 * are compared, never in a single message.
 */
export const DIFFERENCE = 'difference';

/**
 * The category of differences between the response that a client received in `observe` mode and the response to the
 * same request in the form in which stricter modes send it. They are found after the response has been sent.
 */
export const REHEARSAL = 'rehearsal';

/** The name of a violation category. */
export type ViolationCategory = (typeof VIOLATION_CATEGORIES)[number];

/** The part of a message in which a violation was found. */
export type ViolationLocation = 'path' | 'query' | 'header' | 'body' | 'status' | 'method';

/** One difference between a message and the contract. It never contains a value from the message. */
export interface Violation {
  /**
   * The check that found the violation. The other two values stand for incidents: `upstream` for a failed exchange, and
   * `errors` for an error whose status the translation of errors changes.
   */
  readonly check: JudgedName | 'upstream';
  readonly direction: 'request' | 'response';
  readonly category: ViolationCategory;
  readonly location: ViolationLocation;
  /**
   * The name of a parameter, or a JSON pointer into the body (`/list/0/id`). Empty if the violation applies to the
   * whole `location`.
   */
  readonly at: string;
  /** The schema keyword that was violated, or the name of the rule. */
  readonly keyword: string;
  /** The JSON pointer to the keyword in the generated schema. Empty for rules that are written in code. */
  readonly schemaPath: string;
  /** A one-sentence description of the violation without any value from the message. */
  readonly message: string;
  /** The name that the sender probably meant. */
  readonly suggestion?: string;
  /** A description of the value that does not reveal it, such as its type, length or form. */
  readonly found?: string;
  /**
   * Set if only one of the two contracts, the current and the shadow contract, reports the violation. States whether
   * the shadow contract would be stricter or more lenient.
   */
  readonly candidate?: 'newly-refused' | 'newly-accepted';
}

/**
 * Something to record in the ledger that is not a violation of the contract: a failed exchange, a server error, a limit
 * that would have been exceeded, or an error whose status is translated. It has the form of a violation, so that it is
 * counted in the same way.
 */
export type Incident = Violation & { readonly check: 'upstream' | 'errors' };

/** The violation keyword for a field that the contract does not document. */
export const UNDOCUMENTED_FIELD = 'undocumented-field';

/**
 * Returns whether a violation is only counted and reported. Such a violation neither causes a refusal nor prevents a
 * response from being stored. It is due to an undocumented field, to something that the contract expects but does not
 * require, or to a rehearsal.
 */
export function isAdvisory({ category, keyword }: Pick<Violation, 'category' | 'keyword'>): boolean {
  return category === 'advisory' || category === REHEARSAL || keyword === UNDOCUMENTED_FIELD;
}

/**
 * Returns a violation's severity as a number. The most serious category has the number 0. Advisories have the highest
 * number, regardless of their category. `Contract-Status` and all reports use this order.
 */
export function severityOf(violation: Pick<Violation, 'category' | 'keyword'>): number {
  return isAdvisory(violation) ? VIOLATION_CATEGORIES.length : VIOLATION_CATEGORIES.indexOf(violation.category);
}

/** A location where a scan found that an expected field is absent or that a string has an unexpected form. */
export interface Departure {
  /** The names and indices that lead to the field. */
  readonly path: readonly (string | number)[];
  /** The string with the unexpected form. Undefined if the field is absent. */
  readonly text: string | undefined;
}

/** The differences from the contract that a scan found in a valid body. */
export interface ScannedDifferences {
  /**
   * The body, reduced to its undocumented fields, or undefined if there are none. Of several locations that differ only
   * in their array indices, only the first is included. The value of an integer might be from an earlier body.
   */
  readonly undocumented: unknown;
  /**
   * The absent fields, and the strings with an unexpected form. Only the first occurrence at each location is included.
   */
  readonly departures: readonly Departure[];
}
