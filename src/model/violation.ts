import type { CheckName } from './checks.ts';

/** The categories of violations in reports. */
export const VIOLATION_CATEGORIES = [
  'undocumented',
  'missing',
  'type',
  'format',
  'enum',
  'bounds',
  'semantic',
  'protocol',
  'permission-mismatch',
] as const;

/** The name of a category of violations. */
export type ViolationCategory = (typeof VIOLATION_CATEGORIES)[number];

/** The part of a message in which a violation was found. */
export type ViolationLocation = 'path' | 'query' | 'header' | 'body' | 'status' | 'method';

/** One difference between a message and the contract; never contains a value from the message. */
export interface Violation {
  /** The check that found it; `upstream` for failed exchanges that no check reported. */
  readonly check: CheckName | 'upstream';
  readonly direction: 'request' | 'response';
  readonly category: ViolationCategory;
  readonly location: ViolationLocation;
  /** A parameter's name, or a JSON pointer into the body (`/list/0/id`); empty for the whole message part. */
  readonly at: string;
  /** The schema keyword or the name of the rule that was violated. */
  readonly keyword: string;
  /** The JSON pointer of the keyword in the generated schema; empty for rules in code. */
  readonly schemaPath: string;
  /** One sentence that contains no value from the message. */
  readonly message: string;
  /** A name that the sender may have meant. */
  readonly suggestion?: string;
  /** A description of the observed value that does not show it: type, length or form. */
  readonly found?: string;
  /** Set for differences of the shadow contract: what it would newly refuse, or newly accept. */
  readonly candidate?: 'newly-refused' | 'newly-accepted';
}
