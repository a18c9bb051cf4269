import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, vi } from 'vitest';
import { endWithRunner, untilSignal } from '../../../src/cli/terminal/signals.ts';

describe('untilSignal', () => {
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

  it('resolves with the first signal, and calls back on a later second one', async () => {
    const { source, first, again } = watched([1000, 2000]);
    source.emit('SIGTERM');
    expect(await first).toBe('SIGTERM');
    expect(again()).toBe(0);
    source.emit('SIGINT');
    expect(again()).toBe(1);
  });

  it('ignores the echo of a signal that a package runner forwards', async () => {
    const { source, first, again } = watched([1000, 1003]);
    source.emit('SIGINT');
    expect(await first).toBe('SIGINT');
    source.emit('SIGINT');
    expect(again()).toBe(0);
  });
});

describe('endWithRunner', () => {
  const launcher = join(import.meta.dirname, '..', '..', '..', 'bin', 'portico.mjs');

  // npm sends SIGTERM only to its shell. The shell exits, but the program keeps running.
  it('drains the gateway when the package runner that started it has ended', async () => {
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
    // The stream ends only after every process has closed it, so by then the gateway has drained and exited.
    expect(lines.join('\n')).toMatch(/Draining/);
    if (shell.exitCode === null && shell.signalCode === null) await once(shell, 'exit');
  });

  it('does not watch the parent of a program that no package runner started', () => {
    const timers = vi.spyOn(globalThis, 'setInterval');
    endWithRunner({ env: {}, pid: 1, ppid: 2, kill: () => undefined });
    expect(timers).not.toHaveBeenCalled();
    timers.mockRestore();
  });
});
