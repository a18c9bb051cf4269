import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** Whether the system reports processor time in nanoseconds; otherwise it is counted in ticks of 10 ms. */
export const hasExactCpuTime = existsSync('/proc/self/schedstat');

const NS_PER_TICK = 10_000_000;

/** The kinds of threads whose time is shown separately. */
export const THREAD_GROUPS = ['main', 'v8', 'pool', 'worker', 'other'] as const;

/** A kind of thread: main threads, V8's helpers, libuv's pool, worker threads of Node, and anything else. */
export type ThreadGroup = (typeof THREAD_GROUPS)[number];

/** Processor time by kind of thread. */
export type CpuTimes = Readonly<Record<ThreadGroup, number>>;

/** Reads the nanoseconds that a set of processes has spent on processors so far, including threads that have ended. */
export type ReadCpuTimes = (pids: readonly number[]) => CpuTimes;

/** Threads by the names that Node, V8 and libuv give them; the names of main threads do not matter. */
const NAMES: readonly (readonly [RegExp, ThreadGroup])[] = [
  [/V8Worker|^DelayedTaskSche/, 'v8'],
  [/^libuv-worker/, 'pool'],
  [/^(?:node-)?Worker|^\[worker|^WorkerThread|^ledger/i, 'worker'],
];

/** Creates a reader that remembers the time of every thread that it has seen. */
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

/** Returns the kind of a thread; the system cuts names after 15 letters. */
export function threadGroup(isMain: boolean, name: string | undefined): ThreadGroup {
  if (isMain) return 'main';
  return NAMES.find(([pattern]) => pattern.test(name?.trim() ?? ''))?.[1] ?? 'other';
}

/** The time of all threads together. */
export function totalOf(times: CpuTimes): number {
  return THREAD_GROUPS.reduce((sum, group) => sum + times[group], 0);
}

/** Applies a function to the time of each kind of thread. */
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

/** The first number of `schedstat`, nanoseconds on a processor; undefined for a thread that has just ended. */
export function exactNs(text: string | undefined): number | undefined {
  const ns = Number(text?.split(' ')[0]);
  return text === undefined || text === '' || Number.isNaN(ns) ? undefined : ns;
}

/** User and system time of `stat`, a hundred ticks a second; the name before them may contain spaces and parentheses. */
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
