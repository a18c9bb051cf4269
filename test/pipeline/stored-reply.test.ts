import { expect, it } from 'vitest';
import { visibleHeaders } from '../../src/pipeline/stored-reply.ts';

it('clients of a documented operation see what describes the answer, and nothing that the upstream says of itself', () => {
  const names = [
    'Content-Type',
    'content-language',
    'Link',
    'Retry-After',
    'WWW-Authenticate',
    'Set-Cookie',
    'ETag',
    'Last-Modified',
    'Cache-Control',
    'Expires',
    'Age',
    'Server',
    'X-Powered-By',
    'X-Request-Id',
    'Content-Length',
    'X-Content-Type',
    'Vary',
  ];
  expect(visibleHeaders(names.map((name) => [name, 'x'])).map(([name]) => name)).toEqual(names.slice(0, 5));
});
