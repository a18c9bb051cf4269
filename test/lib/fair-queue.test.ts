import { describe, expect, it } from 'vitest';
import { createFairQueue } from '../../src/lib/fair-queue.ts';

/** Adds items such as `a1` and `a2`. The letter identifies the client. */
function queueOf(...items: string[]) {
  const queue = createFairQueue<string>();
  for (const item of items) queue.add(item.charAt(0), item);
  return queue;
}

function drained(queue: ReturnType<typeof queueOf>): (string | undefined)[] {
  const order: (string | undefined)[] = [];
  while (queue.size > 0) order.push(queue.next());
  return order;
}

describe('a fair queue', () => {
  it('serves the clients in turn, and the items of a client in order', () => {
    expect(drained(queueOf('a1', 'a2', 'a3', 'b1', 'c1', 'b2'))).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  });

  it('puts a client that joins behind those that are already waiting', () => {
    const queue = queueOf('a1', 'a2', 'b1');
    expect(queue.next()).toBe('a1');
    queue.add('c', 'c1');
    expect(drained(queue)).toEqual(['b1', 'a2', 'c1']);
    expect(queue.next()).toBeUndefined();
  });

  it('puts a client whose items were all served behind those that joined in the meantime', () => {
    const queue = queueOf('a1', 'b1');
    expect(queue.next()).toBe('a1');
    for (const item of ['c1', 'a2']) queue.add(item.charAt(0), item);
    expect(drained(queue)).toEqual(['b1', 'c1', 'a2']);
  });

  it('removes an item once, and forgets a client without items', () => {
    const queue = queueOf('a1', 'a2', 'b1');
    queue.remove('a', 'a1');
    queue.remove('a', 'a1');
    queue.remove('z', 'z1');
    expect(queue.size).toBe(2);
    queue.remove('b', 'b1');
    expect(drained(queue)).toEqual(['a2']);
  });

  it('makes room at the expense of the client with the most items', () => {
    const queue = queueOf('a1', 'b1', 'a2', 'a3', 'b2');
    expect(queue.displace('c')).toBe('a3');
    expect(queue.size).toBe(4);
    // Both clients have two items, so replacing one client's item with the other's would gain nothing.
    expect(queue.displace('b')).toBeUndefined();
    expect(queue.displace('a')).toBeUndefined();
    expect(queue.displace('c')).toBe('a2');
  });

  it('makes room at the expense of that client wherever it is in turn', () => {
    expect(queueOf('a1', 'b1', 'b2', 'b3').displace('c')).toBe('b3');
  });

  it('makes no room if every client has one item, or none is waiting', () => {
    expect(queueOf('a1', 'b1').displace('c')).toBeUndefined();
    expect(queueOf().displace('c')).toBeUndefined();
  });

  it('passes over a client that may not be served, which keeps its turn', () => {
    const queue = queueOf('a1', 'a2', 'b1');
    expect(queue.next((client) => client !== 'a')).toBe('b1');
    expect(queue.next(() => false)).toBeUndefined();
    expect([queue.next(), queue.next(), queue.size]).toEqual(['a1', 'a2', 0]);
  });
});
