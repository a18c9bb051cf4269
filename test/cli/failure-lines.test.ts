import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import { failureLines } from '../../src/cli/failure-lines.ts';
import { StartFault } from '../../src/model/fault.ts';

const listenError = (options: { host: string; port: number }) =>
  new Promise<Error>((resolve) => createServer().once('error', resolve).listen(options));

it('faults are one block with source, pointer, message and suggestion', () => {
  const lines = failureLines(
    new StartFault([
      { source: 'config/portico.yaml:2', pointer: '/mod', message: 'is not a key', suggestion: 'did you mean mode?' },
      { source: 'PORT', pointer: '', message: 'must be a whole number' },
    ]),
  );
  expect(lines).toEqual([
    'portico cannot start: 2 faults',
    '  config/portico.yaml:2 /mod',
    '    is not a key (did you mean mode?)',
    '  PORT',
    '    must be a whole number',
  ]);
});

it('an address that this machine does not have is told in one line', async () => {
  const lines = failureLines(await listenError({ host: '192.0.2.1', port: 0 }));
  expect(lines).toEqual([expect.stringContaining('this machine has no such address (HOST, ADMIN_HOST)')]);
});

it('anything unexpected keeps its stack', () => {
  expect(failureLines(new TypeError('boom'))[0]).toMatch(/^portico failed: TypeError: boom\n +at /);
});
