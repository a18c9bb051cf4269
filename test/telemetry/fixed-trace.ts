import { createTrace, type Trace } from '../../src/model/trace.ts';
import type { Violation } from '../../src/model/violation.ts';

/** A finished request for a list, with what the test is about written over it. */
export function finishedTrace(more: Partial<Trace> = {}): Trace {
  return {
    ...createTrace({
      requestId: 'req-1',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      method: 'GET',
      startedAt: 1_700_000_000_000,
    }),
    operation: 'listQuestions',
    status: 200,
    bytes: 1234,
    seconds: 0.004,
    ...more,
  };
}

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
