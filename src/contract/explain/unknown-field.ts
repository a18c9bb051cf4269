import { describeValue, SIZE_ONLY } from '../../privacy/describe-value.ts';
import { UNDOCUMENTED_FIELD, type Violation } from '../../model/violation.ts';
import type { UnknownField } from './find-unknown-fields.ts';
import type { SchemaPlace } from './schema-violation.ts';

/**
 * Returns the violation for a field that the contract does not document. The violation includes only the type and the
 * size of the value, because the value may be personal.
 */
export function unknownFieldViolation({ at, value }: UnknownField, place: SchemaPlace): Violation {
  return {
    ...place,
    category: 'undocumented',
    at,
    keyword: UNDOCUMENTED_FIELD,
    schemaPath: '',
    message: `${at} is not documented`,
    found: describeValue(value, SIZE_ONLY),
  };
}
