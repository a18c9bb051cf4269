import type { Violation } from '../../src/model/violation.ts';

/** A violation of an answer, with what the test is about written over it. */
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
