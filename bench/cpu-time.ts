import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** True if the system reports CPU time in nanoseconds; false if it reports ticks. */
export const hasExactCpuTime = existsSync('/proc/self/schedstat');

const NS_PER_TICK = 10_000_000;

/** The groups of threads whose CPU time is reported separately. */
export const THREAD_GROUPS = ['main', 'v8', 'pool', 'worker', 'other'] as const;

/** The group of a thread: main threads, V8's helpers, libuv's thread pool, Node's worker threads, or others. */
export type ThreadGroup = (typeof THREAD_GROUPS)[number];

/** The CPU time of each thread group. */
export type CpuTimes = Readonly<Record<ThreadGroup, number>>;

/** Returns the CPU time of a set of processes, in nanoseconds, including the time of threads that have ended. */
export type ReadCpuTimes = (pids: readonly number[]) => CpuTimes;

/** The names that Node, V8 and libuv give their threads. */
const NAMES: readonly (readonly [RegExp, ThreadGroup])[] = [
  [/V8Worker|^DelayedTaskSche/, 'v8'],
  [/^libuv-worker/, 'pool'],
  [/^(?:node-)?Worker|^\[worker|^WorkerThread|^ledger/i, 'worker'],
];

/** Creates a reader that remembers the CPU time of every thread that it has seen. */
export function createCpuTimes(read: (path: string) => string | undefined = readText): ReadCpuTimes {
  const known = new Map<string, { readonly group: ThreadGroup; readonly ns: number }>();
  const store = (name: string, group: ThreadGroup, ns: number | undefined) => {
    if (ns !== undefined) known.set(name, { group, ns });
  };
  return (pids) => {
    for (const pid of pids) {
      if (!hasExactCpuTime) store(String(pid), 'main', ticksNs(read(`/proc/${pid}/stat`)));
      else
        for (const task of tasksOf(pid)) {
          const folder = `/proc/${pid}/task/${task}`;
          store(
            folder,
            threadGroup(task === String(pid), read(`${folder}/comm`)),
            exactNs(read(`${folder}/schedstat`)),
          );
        }
    }
    const times: Record<ThreadGroup, number> = { main: 0, v8: 0, pool: 0, worker: 0, other: 0 };
    for (const { group, ns } of known.values()) times[group] += ns;
    return times;
  };
}

/** Returns the group to which a thread belongs. Names have at most 15 characters, because the system truncates them. */
export function threadGroup(isMain: boolean, name: string | undefined): ThreadGroup {
  if (isMain) return 'main';
  return NAMES.find(([pattern]) => pattern.test(name?.trim() ?? ''))?.[1] ?? 'other';
}

/** Returns the CPU time of all threads. */
export function totalOf(times: CpuTimes): number {
  return THREAD_GROUPS.reduce((sum, group) => sum + times[group], 0);
}

/** Calls a function for each group of threads. */
export function mapTimes(of: (group: ThreadGroup) => number): CpuTimes {
  return { main: of('main'), v8: of('v8'), pool: of('pool'), worker: of('worker'), other: of('other') };
}

function tasksOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/**
 * Returns the first number in `schedstat`, which is the CPU time in nanoseconds. Returns undefined if the thread has
 * just ended.
 */
export function exactNs(text: string | undefined): number | undefined {
  const ns = Number(text?.split(' ')[0]);
  return text === undefined || text === '' || Number.isNaN(ns) ? undefined : ns;
}

/**
 * Returns the sum of the user time and the system time in `stat`, in nanoseconds. The system reports both times in
 * ticks, with 100 ticks per second. The program name precedes them and may contain spaces and parentheses.
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
