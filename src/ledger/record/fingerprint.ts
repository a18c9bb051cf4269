import { hash } from 'node:crypto';
import { placeText } from '../../privacy/path-text.ts';
import type { Violation } from '../../model/violation.ts';

/** What the occurrences of one violation have in common. */
export interface ViolationKind {
  /** 16 hexadecimal digits, the first of them a letter; the same difference has the same one in every process. */
  readonly fingerprint: string;
  /** The place, without indices, ids and whatever a caller could have put there. */
  readonly at: string;
  /** The upstream's own status, for violations of responses. */
  readonly status: number | undefined;
}

/** Reduces a violation to what makes it the same one the next time: operation, direction, status, check, rule and place. */
export type KindOf = (operation: string | undefined, status: number | undefined, violation: Violation) => ViolationKind;

const MAX_REMEMBERED = 4_096;

/** Creates the reduction with a bounded memory: what was found before costs one look-up and no hash. */
export function createKindOf(): KindOf {
  let recent = new Map<string, ViolationKind>();
  let older = new Map<string, ViolationKind>();
  return (operation, status, violation) => {
    const { check, direction, location, keyword, schemaPath, candidate } = violation;
    const answered = direction === 'response' ? status : undefined;
    const rule = `${operation ?? ''}\n${check}\n${direction}\n${answered ?? ''}\n${location}\n${keyword}\n${schemaPath}\n${candidate ?? ''}\n`;
    const key = rule + violation.at;
    const known = recent.get(key);
    if (known !== undefined) return known;
    const kind = older.get(key) ?? reduced(rule, answered, violation);
    recent.set(key, kind);
    // Two halves in place of one order: the older half is forgotten at once when the newer one is full.
    if (recent.size >= MAX_REMEMBERED / 2) {
      older = recent;
      recent = new Map();
    }
    return kind;
  };
}

function reduced(rule: string, status: number | undefined, violation: Violation): ViolationKind {
  // The name of a permission is the contract's own, blanks and all.
  const at = violation.keyword === 'permission-denied' ? violation.at : placeText(violation.at);
  return { fingerprint: nameOf(hash('sha256', rule + at, 'hex')), at, status };
}

// A letter first: what begins with a digit is a number to YAML, and no token to readers of header fields.
function nameOf(digest: string): string {
  return `${'abcdef'.charAt(Number.parseInt(digest.slice(-2), 16) % 6)}${digest.slice(0, 15)}`;
}
