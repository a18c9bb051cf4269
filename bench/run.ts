import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compareCheckouts } from './against.ts';
import { type Arguments, readArguments, USAGE } from './arguments.ts';
import { measureAll } from './measure-all.ts';
import { measureMicro } from './measure-micro.ts';
import { killAll } from './process-tree.ts';
import { measureProfile } from './profile/measure-profile.ts';
import { partNames } from './scenarios/all.ts';
import { FULL, QUICK } from './scenarios/effort.ts';
import { openSession, type Session } from './session.ts';

/** Runs the benchmark, which began at that instant (epoch milliseconds, packages included); answers the exit code. */
export async function run(args: readonly string[], startedAt: number): Promise<number> {
  const names = partNames();
  const usage = USAGE.replace('NAMES', names.join(', '));
  const asked = readArguments(args, names);
  if (typeof asked === 'string') {
    process.stderr.write(`${asked}\n\n${usage}`);
    return 2;
  }
  if (asked.help) {
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
    return await measure(asked, await openSession(folder, asked.quick ? QUICK : FULL, startedAt));
  } catch (error) {
    process.stderr.write(`\nthe benchmark failed: ${(error as Error).message}\n`);
    return 1;
  } finally {
    clean();
  }
}

function measure(asked: Arguments, session: Session): Promise<number> {
  if (asked.against !== undefined) return compareCheckouts(asked.against, asked, session);
  if (asked.profile !== undefined) return measureProfile(asked.profile, asked, session);
  return asked.micro ? measureMicro(asked, session) : measureAll(asked, session);
}
