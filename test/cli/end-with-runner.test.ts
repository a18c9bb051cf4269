import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it, vi } from 'vitest';
import { endWithRunner } from '../../src/cli/end-with-runner.ts';

const launcher = join(import.meta.dirname, '..', '..', 'bin', 'portico.mjs');

// npm hands a SIGTERM to its shell only, which dies of it and leaves the program behind.
it('a gateway drains when the package runner that started it is gone', async () => {
  const script = '"$0" "$1" serve --db :memory: & wait';
  const shell = spawn('sh', ['-c', script, process.execPath, launcher], {
    env: { ...process.env, npm_lifecycle_event: 'start', PORT: '0', ADMIN_PORT: '0' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const lines: string[] = [];
  for await (const line of createInterface(shell.stderr)) {
    lines.push(line);
    if (line.includes('accounts')) shell.kill('SIGKILL');
  }
  // The stream has ended, so nobody holds it any more: the gateway has gone too, after saying that it drains.
  expect(lines.join('\n')).toMatch(/Draining/);
  if (shell.exitCode === null && shell.signalCode === null) await once(shell, 'exit');
});

it('a program that no package runner started does not watch its parent', () => {
  const timers = vi.spyOn(globalThis, 'setInterval');
  endWithRunner({ env: {}, pid: 1, ppid: 2, kill: () => undefined });
  expect(timers).not.toHaveBeenCalled();
  timers.mockRestore();
});
