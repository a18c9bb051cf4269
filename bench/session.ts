import { spawnSync } from 'node:child_process';
import { allCases, type Case } from './cases.ts';
import { LOAD_CORE } from './cores.ts';
import type { Effort } from './effort.ts';
import { type Machine, readMachine } from './machine.ts';
import type { PorticoOptions } from './peers/portico.ts';
import { createProgress, type Progress } from './progress.ts';
import type { Setting } from './server.ts';
import { startUpstream } from './start-upstream.ts';

/** What all kinds of runs have. */
export interface Session {
  /** In epoch milliseconds. */
  readonly startedAt: number;
  readonly command: string;
  readonly machine: Machine;
  readonly effort: Effort;
  readonly setting: Setting & {
    readonly progress: Progress;
    /** Returns the cases whose programs are installed. */
    casesOf(options: PorticoOptions): readonly Case[];
  };
}

/** Inspects the machine, moves this program away from the server's core and starts the upstream. */
export async function openSession(
  folder: string,
  { effort, startedAt, command }: Pick<Session, 'effort' | 'startedAt' | 'command'>,
): Promise<Session> {
  const progress = createProgress(startedAt);
  const machine = await readMachine();
  for (const name of ['taskset', 'wrk'])
    if (machine.missing[name] !== undefined) throw new Error(`${name}: ${machine.missing[name]}`);
  if (machine.cores < 2) throw new Error('two cores are required: one for the server and one for everything else');
  for (const [name, reason] of Object.entries(machine.missing)) progress.say(`${name} is skipped: ${reason}`);
  spawnSync('taskset', ['-a', '-c', '-p', String(LOAD_CORE), String(process.pid)]);
  const casesOf = (options: PorticoOptions) =>
    allCases(options).filter(({ peer: { needs } }) => needs === undefined || machine.missing[needs] === undefined);
  const setting = { folder, progress, casesOf, upstream: await startUpstream(folder) };
  return { startedAt, command, machine, effort, setting };
}
