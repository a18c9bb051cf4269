import { anyIndex } from '../lib/json-pointer.ts';
import type { Violation, ViolationCategory, ViolationLocation } from '../model/violation.ts';

/** A violation of the rules for parameters. */
export function parameterViolation(
  location: 'path' | 'query',
  at: string,
  category: ViolationCategory,
  keyword: string,
  message: string,
): Violation {
  return { check: 'requests', direction: 'request', category, location, at, keyword, schemaPath: '', message };
}

/** A violation of an answer that no schema told. */
export function responseViolation(
  category: ViolationCategory,
  location: ViolationLocation,
  at: string,
  keyword: string,
  message: string,
): Violation {
  return { check: 'responses', direction: 'response', category, location, at, keyword, schemaPath: '', message };
}

/** The first violation of each kind: what is wrong with many items of a list in the same way is one thing that is wrong. */
export function oncePerKind(violations: readonly Violation[]): readonly Violation[] {
  if (violations.length < 2) return violations;
  const told = new Set<string>();
  return violations.filter(({ check, location, keyword, schemaPath, at }) =>
    isFirst(told, `${check} ${location} ${keyword} ${schemaPath} ${anyIndex(at)}`),
  );
}

/** Whatever breaks the first few rules, so that one rule broken by many items leaves room for others. */
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

function isFirst(told: Set<string>, kind: string): boolean {
  if (told.has(kind)) return false;
  told.add(kind);
  return true;
}
