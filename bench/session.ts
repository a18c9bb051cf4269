import { spawnSync } from 'node:child_process';
import { LOAD_CORE } from './cores.ts';
import { type Machine, readMachine } from './machine.ts';
import { createProgress } from './progress.ts';
import type { RunContext } from './run-scenario.ts';
import type { Effort } from './scenarios/effort.ts';
import { startUpstream } from './start-upstream.ts';

/** What every kind of run begins with. */
export interface Session {
  readonly startedAt: string;
  readonly machine: Machine;
  readonly effort: Effort;
  readonly context: RunContext;
}

/** Reads the machine, moves this program off the server's core and starts the upstream; throws where that is impossible. */
export async function openSession(folder: string, effort: Effort, startedAt: number): Promise<Session> {
  const progress = createProgress(startedAt);
  const machine = await readMachine();
  for (const name of ['taskset', 'wrk']) {
    const reason = machine.missing.get(name);
    if (reason !== undefined) throw new Error(`${name}: ${reason}`);
  }
  if (machine.cores < 2) throw new Error('two cores are needed: one for the server, one for everything else');
  if (!machine.exactCpuTime) progress.say('there is no /proc/self/schedstat: processor time comes in ticks of 10 ms');
  for (const [name, reason] of machine.missing) progress.say(`${name} is left out: ${reason}`);
  spawnSync('taskset', ['-a', '-c', '-p', String(LOAD_CORE), String(process.pid)]);

  const upstream = await startUpstream(folder);
  return {
    startedAt: new Date(startedAt).toISOString(),
    machine,
    effort,
    context: { folder, upstream, progress, missing: machine.missing, warmSeconds: effort.warmSeconds },
  };
}
