import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** Whether the system reports CPU time in nanoseconds; otherwise it reports ticks. */
export const hasExactCpuTime = existsSync('/proc/self/schedstat');

const NS_PER_TICK = 10_000_000;

/** Returns the CPU time of a set of processes in nanoseconds, including the time of threads that have ended. */
export type CpuTime = (pids: readonly number[]) => number;

/** Creates a reader that remembers the CPU time of every thread that it has seen. */
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

/** Returns the first number of `schedstat`, the CPU time in nanoseconds, or undefined if the thread has just ended. */
export function exactNs(text: string | undefined): number | undefined {
  const ns = Number(text?.split(' ')[0]);
  return text === undefined || text === '' || Number.isNaN(ns) ? undefined : ns;
}

/**
 * Returns the user and system time from `stat`, which has a hundred ticks per second. The program name in front of them
 * may contain spaces and parentheses.
 */
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
