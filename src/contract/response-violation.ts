import type { Violation, ViolationCategory, ViolationLocation } from '../model/violation.ts';

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
