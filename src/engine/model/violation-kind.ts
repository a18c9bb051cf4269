import { hash } from 'node:crypto';
import { boundedMemo } from '../../lib/bounded-maps.ts';
import { placeText } from '../privacy/path-text.ts';
import type { Violation } from './violation.ts';

/** The properties that identify a violation. They are the same for all occurrences of the violation. */
export interface ViolationKind {
  /** 16 hexadecimal digits, the first of which is a letter. A violation has the same fingerprint in every process. */
  readonly fingerprint: string;
  /** The place in the message, without indices, ids or text that a caller may have made up. */
  readonly at: string;
  /** The status of the upstream's response. Undefined for violations in requests. */
  readonly status: number | undefined;
}

/** Returns the properties that identify a violation: its operation, direction, status, check, rule and place. */
export type KindOf = (operation: string | undefined, status: number | undefined, violation: Violation) => ViolationKind;

const MAX_REMEMBERED = 4_096;

/** The number of recent violation objects to remember. */
const MAX_RECENT = 16;

/**
 * Creates a function that identifies violations. It caches recent results, so that the same violation is not hashed
 * again.
 *
 * The response header, the log and the ledger all identify the same violation object, and responses that differ from
 * the contract in the same way share the same violation objects. An object that was seen recently is therefore
 * recognized without building a key.
 */
export function createKindOf(): KindOf {
  const kinds = boundedMemo(MAX_REMEMBERED, reduced);
  const recent: Recent[] = [];
  let next = 0;
  return (operation, status, violation) => {
    for (const known of recent)
      if (known.violation === violation && known.operation === operation && known.status === status) return known.kind;
    const { check, direction, location, keyword, schemaPath, candidate } = violation;
    const upstreamStatus = direction === 'response' ? status : undefined;
    const key = `${operation ?? ''}\n${check}\n${direction}\n${upstreamStatus ?? ''}\n${location}\n${keyword}\n${schemaPath}\n${candidate ?? ''}\n${violation.at}`;
    const kind = kinds(key, { status: upstreamStatus, violation });
    recent[next] = { operation, status, violation, kind };
    next = (next + 1) % MAX_RECENT;
    return kind;
  };
}

interface Occurrence {
  readonly status: number | undefined;
  readonly violation: Violation;
}

/** A violation and its identifying properties, which also depend on the operation and the status. */
interface Recent extends Occurrence {
  readonly operation: string | undefined;
  readonly kind: ViolationKind;
}

/** Computes the properties that identify a violation. The key consists of the rule and the place. */
function reduced(key: string, { status, violation }: Occurrence): ViolationKind {
  const rule = key.slice(0, key.length - violation.at.length);
  // The name of a permission comes from the contract and can contain spaces.
  const at = violation.keyword === 'permission-denied' ? violation.at : placeText(violation.at);
  return { fingerprint: toFingerprint(hash('sha256', rule + at, 'hex')), at, status };
}

// A fingerprint starts with a letter, because a YAML parser might read text that starts with a digit as a number.
function toFingerprint(digest: string): string {
  return `${'abcdef'.charAt(Number.parseInt(digest.slice(-2), 16) % 6)}${digest.slice(0, 15)}`;
}
