import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** Whether the system tells processor time in nanoseconds; else it is counted in ticks. */
export const hasExactCpuTime = existsSync('/proc/self/schedstat');

const NS_PER_TICK = 10_000_000;

/** Reads the nanoseconds that a set of processes has spent on processors so far; what threads that have ended spent stays in it. */
export type CpuTime = (pids: readonly number[]) => number;

/** Makes a reader that remembers every thread that it has met. */
export function createCpuTime(read: (path: string) => string | undefined = readText): CpuTime {
  const known = new Map<string, number>();
  return (pids) => {
    for (const pid of pids) {
      if (hasExactCpuTime) for (const task of tasksOf(pid)) keep(known, task, exactNs(read(`${task}/schedstat`)));
      else keep(known, String(pid), ticksNs(read(`/proc/${pid}/stat`)));
    }
    return [...known.values()].reduce((sum, one) => sum + one, 0);
  };
}

function keep(known: Map<string, number>, name: string, ns: number | undefined): void {
  if (ns !== undefined) known.set(name, ns);
}

function tasksOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map((task) => `/proc/${pid}/task/${task}`);
  } catch {
    return [];
  }
}

/** The first number of `schedstat`: nanoseconds on a processor; undefined for a thread that has just ended. */
export function exactNs(text: string | undefined): number | undefined {
  const ns = Number(text?.split(' ')[0]);
  return text === undefined || text === '' || Number.isNaN(ns) ? undefined : ns;
}

/** User and system time of `stat`, a hundred ticks in a second; the name before them may hold spaces and parentheses. */
export function ticksNs(text: string | undefined): number | undefined {
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ') ?? [];
  const ticks = Number(fields[11]) + Number(fields[12]);
  return Number.isNaN(ticks) ? undefined : ticks * NS_PER_TICK;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
