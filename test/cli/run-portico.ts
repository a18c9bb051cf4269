import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const launcher = join(import.meta.dirname, '..', '..', 'bin', 'portico.mjs');

/** The result of a completed run. */
export interface Finished {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/**
 * Starts the program through its launcher in an empty folder, with only the given environment variables. `program` is
 * the launcher, by default that of this checkout.
 */
export function startPortico(
  args: readonly string[],
  env: Record<string, string> = {},
  program = launcher,
): ChildProcessWithoutNullStreams {
  const cwd = mkdtempSync(join(tmpdir(), 'portico-cli-'));
  const child = spawn(process.execPath, [program, ...args], { cwd, env: { PATH: process.env['PATH'] ?? '', ...env } });
  child.once('close', () => rmSync(cwd, { recursive: true, force: true }));
  return child;
}

/** Waits for a run to end and collects its output. */
export async function finished(child: ChildProcessWithoutNullStreams): Promise<Finished> {
  const text = { out: '', err: '' };
  child.stdout.on('data', (part) => (text.out += String(part)));
  child.stderr.on('data', (part) => (text.err += String(part)));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, ...text };
}

/** Resolves once standard error matches the pattern. Rejects with its content if the program exits first. */
export function untilSays(child: ChildProcessWithoutNullStreams, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let err = '';
    child.stderr.on('data', (part) => {
      err += String(part);
      if (pattern.test(err)) resolve(err);
    });
    child.once('close', (code) => reject(new Error(`ended with ${String(code)}: ${err}`)));
  });
}
