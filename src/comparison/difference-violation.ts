import type { Violation, ViolationCategory } from '../engine/model/violation.ts';
import { DIFFERENCE } from '../engine/model/violation.ts';
import type { Difference } from './comparator.ts';
import type { DifferenceKind } from './compare-values.ts';

/** What each kind of difference means, as a sentence about the new server. */
const MESSAGES: Readonly<Record<DifferenceKind, string>> = {
  leak: 'the new server shows what the old one hides from this caller',
  permission: 'the new server denies what the old one allows',
  status: 'the new server sends another status',
  'media-type': 'the new server sends another content type',
  body: 'only one of the bodies is JSON, or bodies that are not JSON differ',
  error: 'the new server reports another error',
  type: 'the new server sends a value of another type',
  null: 'only one of the servers sends null',
  missing: 'the new server does not send the field',
  extra: 'only the new server sends the field',
  'missing-item': 'the new server does not send an item',
  'extra-item': 'only the new server sends an item',
  'other-item': 'the new server sends another item',
  order: 'the new server sends the items in another order',
  count: 'the new server states another number',
  identity: 'the new server refers to another object',
  form: 'the new server sends a value of another form',
  address: 'the new server sends an address of the old one',
  value: 'the new server sends another value',
};

const PERMISSIONS: ReadonlySet<DifferenceKind> = new Set(['leak', 'permission']);

/** The keyword of a leak, which nothing can accept. */
export const LEAK = 'compare-leak';

/** Returns a difference in the form of a violation, so that it has a fingerprint and appears in every report. */
export function toViolation({ kind, place, old, new: next, hint }: Difference): Violation {
  const category: ViolationCategory = PERMISSIONS.has(kind) ? 'permission-mismatch' : DIFFERENCE;
  return {
    check: 'responses',
    direction: 'response',
    category,
    location: place.location,
    at: place.at,
    keyword: `compare-${kind}`,
    schemaPath: '',
    message: MESSAGES[kind],
    found: `old: ${old}; new: ${next}${hint === undefined ? '' : `; ${hint}`}`,
  };
}
