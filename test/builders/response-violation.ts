import type { Violation } from '../../src/model/violation.ts';

/** A response violation, with the members that a test overrides. */
export function responseViolation(more: Partial<Violation> = {}): Violation {
  return {
    check: 'responses',
    direction: 'response',
    category: 'type',
    location: 'body',
    at: '/list/3/id',
    keyword: 'type',
    schemaPath: '#/properties/id/type',
    message: 'must be an integer',
    ...more,
  };
}
