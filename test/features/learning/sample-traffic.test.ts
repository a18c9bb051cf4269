import { pino } from 'pino';
import { expect, it } from 'vitest';
import type { Operation } from '../../../src/engine/model/operation.ts';
import type { Exchange } from '../../../src/engine/pipeline/exchange.ts';
import { createTrafficSampler } from '../../../src/features/learning/sample-traffic.ts';
import { contract } from '../../engine/contract/sample.ts';

it('a sampler that closes samples what is scheduled and nothing more', () => {
  const recorded: string[] = [];
  const { messages, close } = createTrafficSampler({
    document: contract.document,
    shapes: undefined,
    takeTurn: () => true,
    recordFields: (operation) => void recorded.push(operation),
    jsonLimits: { depth: 10, values: 100 },
    logger: pino({ enabled: false }),
  });
  const exchange = {
    arrival: { receivedAt: 0, path: '/services/v2/question.json' },
    values: () => ({ details: false, projection: undefined, wrap: false, v1: false }),
  } as unknown as Exchange;
  const respond = () =>
    messages.response?.(exchange, { id: 'listQuestions' } as Operation, {
      status: 200,
      mediaType: 'application/json',
      bytes: Buffer.from('{"list":[]}'),
    });
  respond();
  expect(recorded).toEqual([]);
  close();
  expect(recorded).toEqual(['listQuestions']);
  respond();
  close();
  expect(recorded).toHaveLength(1);
  // Without `learn.traffic`, responses need not be parsed, so they can be scanned.
  expect(Object.keys(messages)).toEqual(['response']);
});
