import { spawnSync } from 'node:child_process';
import { LOAD_CORE } from './cores.ts';
import { type Machine, readMachine } from './machine.ts';
import { createProgress } from './progress.ts';
import type { RunContext } from './run-scenario.ts';
import type { Effort } from './scenarios/effort.ts';
import { startUpstream } from './start-upstream.ts';

/** The setup that is common to all kinds of runs. */
export interface Session {
  readonly startedAt: string;
  readonly machine: Machine;
  readonly effort: Effort;
  readonly context: RunContext;
}

/**
 * Inspects the machine, moves this program away from the server's core and starts the upstream. Throws if any step
 * fails.
 */
export async function openSession(folder: string, effort: Effort, startedAt: number): Promise<Session> {
  const progress = createProgress(startedAt);
  const machine = await readMachine();
  for (const name of ['taskset', 'wrk']) {
    const reason = machine.missing.get(name);
    if (reason !== undefined) throw new Error(`${name}: ${reason}`);
  }
  if (machine.cores < 2) throw new Error('two cores are required: one for the server and one for everything else');
  if (!machine.exactCpuTime)
    progress.say('/proc/self/schedstat does not exist: CPU time is measured in ticks of 10 ms');
  for (const [name, reason] of machine.missing) progress.say(`${name} is skipped: ${reason}`);
  spawnSync('taskset', ['-a', '-c', '-p', String(LOAD_CORE), String(process.pid)]);

  const upstream = await startUpstream(folder);
  return {
    startedAt: new Date(startedAt).toISOString(),
    machine,
    effort,
    context: { folder, upstream, progress, missing: machine.missing, warmUp: effort.warmUp },
  };
}
