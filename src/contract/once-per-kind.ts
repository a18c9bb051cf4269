import { anyIndex } from '../lib/json-pointer.ts';
import type { Violation } from '../model/violation.ts';

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
