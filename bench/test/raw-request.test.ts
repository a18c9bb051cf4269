import assert from 'node:assert/strict';
import { test } from 'vitest';
import { parseResponse } from '../raw-request.ts';

test('a response with a length is complete when that many bytes have arrived', () => {
  const text = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello';
  assert.equal(parseResponse(Buffer.from(text.slice(0, -1))), undefined);
  const response = parseResponse(Buffer.from(text));
  assert.equal(response?.status, 200);
  assert.equal(response.body.toString(), 'hello');
  assert.equal(response.bytes, text.length);
});

test('chunks are joined, and the last one ends the response', () => {
  const text = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n';
  assert.equal(parseResponse(Buffer.from(text.slice(0, 60))), undefined);
  assert.equal(parseResponse(Buffer.from(text))?.body.toString(), 'hello');
});

test('a 304 has no body, whatever its length header says', () => {
  const response = parseResponse(Buffer.from('HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\nETag: "a"\r\n\r\n'));
  assert.equal(response?.status, 304);
  assert.equal(response.headers['etag'], '"a"');
  assert.equal(response.body.length, 0);
});
