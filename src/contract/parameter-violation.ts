import type { Violation, ViolationCategory } from '../model/violation.ts';

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
