import { createHash } from 'node:crypto';
import type { Trace } from '../model/trace.ts';
import type { Violation } from '../model/violation.ts';
import { placeOf } from './place-of.ts';

/** What the occurrences of one violation have in common. */
export interface ViolationKind {
  readonly key: string;
  readonly at: string;
  readonly statusClass: string | undefined;
}

/** Reduces a violation to what makes it the same one the next time: operation, direction, status class, rule and place. */
export function kindOf(trace: Trace, violation: Violation): ViolationKind {
  const at = placeOf(violation.at);
  const status = violation.direction === 'response' ? trace.upstream?.status : undefined;
  const statusClass = status === undefined ? undefined : `${Math.floor(status / 100)}xx`;
  const { check, direction, location, keyword, schemaPath } = violation;
  const parts = [trace.operation ?? '', check, direction, statusClass ?? '', location, keyword, schemaPath, at];
  return { key: parts.join('\n'), at, statusClass };
}

/** The short, stable name of a kind. */
export function fingerprintOf(kind: ViolationKind): string {
  return createHash('sha256').update(kind.key).digest('hex').slice(0, 16);
}
