import { describe, expect, it } from 'vitest';
import { LateArrival } from '../../src/http/late-arrival.ts';
import type { Arrival } from '../../src/model/arrival.ts';
import { arrivalWith } from '../builders/exchange.ts';

const identity = { requestId: 'mine', traceparent: '00-1-2-01', tracestate: 'a=b', receivedAt: 5_000 };

function late(whole: Partial<Arrival> = {}) {
  const read: Arrival[] = [];
  const arrival = new LateArrival('GET', identity, () => {
    const one = arrivalWith(whole);
    read.push(one);
    return one;
  });
  return { arrival, read };
}

describe('a late arrival', () => {
  it('tells its names without being read', () => {
    const { arrival, read } = late();
    const { method, requestId, traceparent, tracestate, receivedAt } = arrival;
    expect({ requestId, traceparent, tracestate, receivedAt }).toEqual(identity);
    expect(method).toBe('GET');
    expect(read).toEqual([]);
  });

  it('is read once, whatever else is asked for and however often', () => {
    const { arrival, read } = late({
      target: '/a?b',
      path: '/a',
      query: 'b',
      headers: { a: 'b' },
      rawHeaders: ['A', 'b'],
      host: 'qa.example',
    });
    const { target, path, query, headers, rawHeaders, clientAddress, protocol, host, body } = arrival;
    const [whole] = read;
    expect({ target, path, query, headers, rawHeaders, clientAddress, protocol, host }).toEqual({
      target: '/a?b',
      path: '/a',
      query: 'b',
      headers: { a: 'b' },
      rawHeaders: ['A', 'b'],
      clientAddress: '127.0.0.1',
      protocol: 'http',
      host: 'qa.example',
    });
    expect(body).toBe(whole?.body);
    expect(read).toHaveLength(1);
  });

  it('is as bad as its reading', () => {
    const arrival = new LateArrival('GET', identity, () => {
      throw new Error('unreadable');
    });
    expect(arrival.requestId).toBe('mine');
    expect(() => arrival.path).toThrow('unreadable');
  });
});
