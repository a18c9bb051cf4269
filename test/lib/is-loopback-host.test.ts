import { expect, it } from 'vitest';
import { isLoopbackHost } from '../../src/lib/is-loopback-host.ts';

it.each([
  ['localhost', true],
  ['127.0.0.1', true],
  ['127.10.0.2', true],
  ['::1', true],
  ['0.0.0.0', false],
  ['::', false],
  ['10.0.0.1', false],
  ['127.0.0.1.example.org', false],
])('%s is reached from this machine only: %s', (host, expected) => {
  expect(isLoopbackHost(host)).toBe(expected);
});
