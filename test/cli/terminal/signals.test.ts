import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, vi } from 'vitest';
import { endWithRunner, untilSignal } from '../../../src/cli/terminal/signals.ts';

describe('until signal', () => {
  function watched(instants: number[]) {
    const source = new EventEmitter();
    let again = 0;
    const first = untilSignal(
      source,
      () => instants.shift() ?? 0,
      () => (again += 1),
    );
    return { source, first, again: () => again };
  }

  it('the first signal resolves, and a second one, some time later, is told', async () => {
    const { source, first, again } = watched([1000, 2000]);
    source.emit('SIGTERM');
    expect(await first).toBe('SIGTERM');
    expect(again()).toBe(0);
    source.emit('SIGINT');
    expect(again()).toBe(1);
  });

  it('the echo of a signal, passed on by a package runner, is not a second one', async () => {
    const { source, first, again } = watched([1000, 1003]);
    source.emit('SIGINT');
    expect(await first).toBe('SIGINT');
    source.emit('SIGINT');
    expect(again()).toBe(0);
  });
});

describe('end with runner', () => {
  const launcher = join(import.meta.dirname, '..', '..', '..', 'bin', 'portico.mjs');

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
});
