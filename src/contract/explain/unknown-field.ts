import { describeValue, SIZE_ONLY } from '../../privacy/describe-value.ts';
import type { Violation } from '../../model/violation.ts';
import type { UnknownField } from './find-unknown-fields.ts';
import type { SchemaPlace } from './schema-violation.ts';

const KEYWORD = 'undocumented-field';

/** Tells of a field that the contract does not know; of its value only type and size, as nobody said what it is. */
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

/** True for what is counted and shown but never refuses anything: a field beyond the contract, which leaves objects open. */
export function isAdvisory({ keyword }: Pick<Violation, 'keyword'>): boolean {
  return keyword === KEYWORD;
}
