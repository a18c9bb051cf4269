import type { LedgerEntry, ReplicaTraffic } from '../../engine/model/ledger-entry.ts';
import { RELEASE_DRIFT, type ViolationCategory } from '../../engine/model/violation.ts';

/** The heading for each category of violations. */
export const CATEGORY_WORDS: Readonly<Record<ViolationCategory, string>> = {
  undocumented: 'Not in the contract',
  missing: 'Missing',
  type: 'Wrong type',
  format: 'Wrong format',
  enum: 'Unknown value',
  bounds: 'Out of bounds',
  'not-allowed': 'Not allowed',
  semantic: 'Rule violation',
  protocol: 'Protocol error',
  coding: 'Wrong content coding',
  permission: 'Permission missing',
  'permission-mismatch': 'Permissions differ',
  size: 'Too large to check',
  difference: 'Different on the new server',
  'release-drift': 'Changed with the release',
  rehearsal: 'Different in staging',
  advisory: 'Not as expected',
};

/** Returns the name of an operation, or `(undocumented)`. */
export const operationName = (operation: string | undefined): string => operation ?? '(undocumented)';

/**
 * Describes the location in the message, such as `response 200, body /name`. For a denial, the description names the
 * permission.
 */
export function placeWords({
  category,
  direction,
  status,
  location,
  at,
  keyword,
}: Omit<LedgerEntry, 'samples'>): string {
  if (category === RELEASE_DRIFT) return at === '' ? 'responses' : `responses, ${at}`;
  if (keyword === 'permission-denied') return at === '' ? 'request' : `request, requires ${at}`;
  const message = direction === 'request' ? 'request' : `response${status === undefined ? '' : ` ${status}`}`;
  return `${message}, ${location}${at === '' ? '' : ` ${at}`}`;
}

/** Formats an instant, given in epoch milliseconds, as `2026-05-04 10:30` in UTC. */
export function timeWords(at: number): string {
  return new Date(at).toISOString().slice(0, 16).replace('T', ' ');
}

/** The column names in the section about the gateways that share a ledger. */
export const REPLICA_COLUMNS = ['Gateway', 'Release', 'Last seen', 'Requests', 'Violations'] as const;

/** Returns the cells of the row for one gateway. */
export function replicaCells({ replica, release, lastSeenAt, requests, violations }: ReplicaTraffic): string[] {
  return [replica, release, timeWords(lastSeenAt), String(requests), String(violations)];
}
