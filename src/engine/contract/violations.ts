import { anyIndex } from '../../lib/json-pointer.ts';
import type { Violation, ViolationCategory, ViolationLocation } from '../model/violation.ts';

/** Creates a violation for a request parameter. */
export function parameterViolation(
  location: 'path' | 'query',
  at: string,
  category: ViolationCategory,
  keyword: string,
  message: string,
): Violation {
  return { check: 'requests', direction: 'request', category, location, at, keyword, schemaPath: '', message };
}

/** Creates a violation for a response problem that was not found by a schema. */
export function responseViolation(
  category: ViolationCategory,
  location: ViolationLocation,
  at: string,
  keyword: string,
  message: string,
): Violation {
  return { check: 'responses', direction: 'response', category, location, at, keyword, schemaPath: '', message };
}

/** Returns the first violation of each kind, so that a problem that occurs in many list items is reported only once. */
export function oncePerKind(violations: readonly Violation[]): readonly Violation[] {
  if (violations.length < 2) return violations;
  const seen = new Set<string>();
  return violations.filter(({ check, location, keyword, schemaPath, at }) =>
    isFirst(seen, `${check} ${location} ${keyword} ${schemaPath} ${anyIndex(at)}`),
  );
}

/**
 * Returns all errors of the first `most` kinds, so that an error that occurs in many items does not displace errors of
 * other kinds.
 */
export function ofFirstKinds<Error extends { readonly keyword: string; readonly at: string }>(
  errors: readonly Error[],
  most: number,
): readonly Error[] {
  if (errors.length <= most) return errors;
  const kinds = new Set<string>();
  return errors.filter(({ keyword, at }) => {
    const kind = `${keyword} ${anyIndex(at)}`;
    if (kinds.size < most) kinds.add(kind);
    return kinds.has(kind);
  });
}

function isFirst(seen: Set<string>, kind: string): boolean {
  if (seen.has(kind)) return false;
  seen.add(kind);
  return true;
}
