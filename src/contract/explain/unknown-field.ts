import { describeValue, SIZE_ONLY } from '../../privacy/describe-value.ts';
import type { Violation } from '../../model/violation.ts';
import type { UnknownField } from './find-unknown-fields.ts';
import type { SchemaPlace } from './schema-violation.ts';

const KEYWORD = 'undocumented-field';

/**
 * Returns the violation for a field that the contract does not document. Only the type and the size of its value are
 * included, because the value may be personal.
 */
export function unknownFieldViolation({ at, value }: UnknownField, place: SchemaPlace): Violation {
  return {
    ...place,
    category: 'undocumented',
    at,
    keyword: KEYWORD,
    schemaPath: '',
    message: `${at} is not documented`,
    found: describeValue(value, SIZE_ONLY),
  };
}

/**
 * Returns true for violations that are counted and reported but never cause a rejection: undocumented fields, because
 * the contract leaves objects open.
 */
export function isAdvisory({ keyword }: Pick<Violation, 'keyword'>): boolean {
  return keyword === KEYWORD;
}
