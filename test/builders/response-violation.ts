import type { Violation } from '../../src/engine/model/violation.ts';

/** Creates a response violation. Tests replace only the members that matter to them. */
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
