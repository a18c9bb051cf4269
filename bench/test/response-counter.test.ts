import assert from 'node:assert/strict';
import { test } from 'vitest';
import { createResponseCounter } from '../response-counter.ts';

const RESPONSES =
  `HTTP/1.1 200 OK\r\nContent-Length: 3000\r\n\r\n${'x'.repeat(3000)}` +
  'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\n\r\n' +
  'HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n';

for (const size of [1, 7, 100, 10_000]) {
  test(`responses are distinguished in pieces of ${size} bytes`, () => {
    const statuses: number[] = [];
    const count = createResponseCounter((status) => void statuses.push(status));
    const all = Buffer.from(RESPONSES);
    for (let at = 0; at < all.length; at += size) {
      const piece = all.subarray(at, at + size);
      count(piece, piece.length);
    }
    assert.deepEqual(statuses, [200, 304, 503]);
  });
}

test('a response without a recognizable end is an error', () => {
  const count = createResponseCounter(() => undefined);
  const head = Buffer.from('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n');
  assert.throws(() => count(head, head.length), /without a length/);
});
