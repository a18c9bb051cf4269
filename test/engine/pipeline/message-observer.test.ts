import { expect, it } from 'vitest';
import type { Arrival } from '../../../src/engine/model/arrival.ts';
import type { Trace } from '../../../src/engine/model/trace.ts';
import { joinObservers } from '../../../src/engine/pipeline/message-observer.ts';

it('observers are joined to one that has only the members that somebody needs', () => {
  expect(joinObservers([])).toEqual({});
  const seen: string[] = [];
  const one = { request: ({ requestId }: Trace) => void seen.push(`one ${requestId}`) };
  expect(Object.keys(joinObservers([one, {}]))).toEqual(['request']);
  const two = { request: ({ requestId }: Trace) => void seen.push(`two ${requestId}`) };
  joinObservers([one, two]).request?.({ requestId: 'a' } as Trace, {} as Arrival);
  expect(seen).toEqual(['one a', 'two a']);
});
