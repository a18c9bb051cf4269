import { createTrace, type Trace } from '../../../src/engine/model/trace.ts';

/** Creates the trace of a finished request for a list. The given members replace the defaults. */
export function finishedTrace(more: Partial<Trace> = {}): Trace {
  return {
    ...createTrace({
      requestId: 'req-1',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      method: 'GET',
      startedAt: 1_700_000_000_000,
      target: '/services/v2/question.json?q=x',
    }),
    operation: 'listQuestions',
    status: 200,
    bytes: 1234,
    seconds: 0.004,
    ...more,
  };
}
