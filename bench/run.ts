import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Arguments, readArguments, USAGE } from './arguments.ts';
import { FULL, QUICK } from './effort.ts';
import { killAll } from './program.ts';
import { openSession, type Session } from './session.ts';

/**
 * Runs the benchmark and returns the exit code. `startedAt` is the time, in epoch milliseconds, at which the run began,
 * before packages were installed.
 */
export async function run(args: readonly string[], startedAt: number): Promise<number> {
  const options = readArguments(args);
  if (typeof options === 'string') {
    process.stderr.write(`${options}\n\n${USAGE}`);
    return 2;
  }
  if (options.help) {
    process.stdout.write(USAGE);
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
    const effort = options.quick ? QUICK : FULL;
    const command = ['npm run bench', ...(args.length > 0 ? ['--', ...args] : [])].join(' ');
    return await measure(options, await openSession(folder, { effort, startedAt, command }));
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
  if (against !== undefined) return (await import('./against.ts')).compareWith(against, options, session);
  if (profile !== undefined) return (await import('./profile/measure-profile.ts')).measureProfile(profile, session);
  if (micro) return (await import('./micro/run-micro.ts')).runMicro(options, session);
  return (await import('./measure-all.ts')).measureAll(options, session);
}
