import type { CheckName } from './checks.ts';

/** The groups that reports sort violations by. */
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

/** The name of a group of violations. */
export type ViolationCategory = (typeof VIOLATION_CATEGORIES)[number];

/** The part of a message that a violation was found in. */
export type ViolationLocation = 'path' | 'query' | 'header' | 'body' | 'status' | 'method';

/** One difference between what was sent or answered and what the contract says; never holds a value of the message. */
export interface Violation {
  /** The check that found it; `upstream` for exchanges that failed without a check saying so. */
  readonly check: CheckName | 'upstream';
  readonly direction: 'request' | 'response';
  readonly category: ViolationCategory;
  readonly location: ViolationLocation;
  /** A parameter's name, or a JSON pointer into the body (`/list/0/id`); empty for the whole. */
  readonly at: string;
  /** The schema keyword or the name of the rule that was broken. */
  readonly keyword: string;
  /** Where the contract says so, as a JSON pointer into the generated schema; empty for rules in code. */
  readonly schemaPath: string;
  /** One plain sentence without any value of the message. */
  readonly message: string;
  /** A name the sender may have meant. */
  readonly suggestion?: string;
  /** What stands at the place, described without showing it: its type, its length, its form. */
  readonly found?: string;
  /** Set on what only the candidate contract says: what it would newly refuse, or newly accept. */
  readonly candidate?: 'newly-refused' | 'newly-accepted';
}
