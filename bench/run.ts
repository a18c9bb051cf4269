import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Arguments, readArguments, USAGE } from './arguments.ts';
import { killAll } from './process-tree.ts';
import { partNames } from './scenarios/all.ts';
import { FULL, QUICK } from './scenarios/effort.ts';
import { openSession, type Session } from './session.ts';

/**
 * Runs the benchmark and returns the exit code. `startedAt` is the time, in epoch milliseconds, at which the run began,
 * before packages were installed.
 */
export async function run(args: readonly string[], startedAt: number): Promise<number> {
  const names = partNames();
  const usage = USAGE.replace('NAMES', names.join(', '));
  const options = readArguments(args, names);
  if (typeof options === 'string') {
    process.stderr.write(`${options}\n\n${usage}`);
    return 2;
  }
  if (options.help) {
    process.stdout.write(usage);
    return 0;
  }
  const folder = mkdtempSync(join(tmpdir(), 'portico-bench-'));
  const clean = () => {
    killAll();
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', clean);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));
  try {
    return await measure(options, await openSession(folder, options.quick ? QUICK : FULL, startedAt));
  } catch (error) {
    process.stderr.write(`\nthe benchmark failed: ${(error as Error).message}\n`);
    return 1;
  } finally {
    clean();
  }
}

// Loading all measurement modules takes most of a second, and the help text needs none of them.
async function measure(options: Arguments, session: Session): Promise<number> {
  const { against, profile, micro } = options;
  if (against !== undefined) return (await import('./against.ts')).compareCheckouts(against, options, session);
  if (profile !== undefined)
    return (await import('./profile/measure-profile.ts')).measureProfile(profile, options, session);
  if (micro) return (await import('./measure-micro.ts')).measureMicro(options, session);
  return (await import('./measure-all.ts')).measureAll(options, session);
}
