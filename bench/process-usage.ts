import { existsSync, readdirSync, readFileSync } from 'node:fs';

const isExact = existsSync('/proc/self/schedstat');
const NS_PER_TICK = 10_000_000;

/**
 * Creates a function that returns the CPU time of processes in nanoseconds. It remembers every thread that it has seen,
 * so that the time of threads that have ended still counts.
 */
export function createCpuTime(
  read: (path: string) => string | undefined = readText,
): (pids: readonly number[]) => number {
  const known = new Map<string, number>();
  return (pids) => {
    for (const pid of pids)
      for (const part of isExact ? threadsOf(pid) : [`/proc/${pid}`]) {
        const ns = isExact ? exactNs(read(`${part}/schedstat`)) : ticksNs(read(`${part}/stat`));
        if (ns !== undefined) known.set(part, ns);
      }
    return [...known.values()].reduce((sum, ns) => sum + ns, 0);
  };
}

/** Returns the first number in `schedstat`, the CPU time in nanoseconds. Undefined if the thread has just ended. */
export function exactNs(text: string | undefined): number | undefined {
  return text === undefined || text === '' ? undefined : Number.parseInt(text, 10);
}

/** Returns the CPU time in `stat`, in nanoseconds. For systems that count only ticks of 10 ms. */
export function ticksNs(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  const fields = fieldsOf(text);
  return (Number(fields[11]) + Number(fields[12])) * NS_PER_TICK;
}

/** Returns a process and all its descendants. Parents come before their children. */
export function treeOf(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) ? readText(`/proc/${name}/stat`) : undefined;
    if (stat === undefined) continue;
    const parent = Number(fieldsOf(stat)[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const tree = [root];
  for (let at = 0; at < tree.length; at += 1) tree.push(...(children.get(tree[at] ?? 0) ?? []));
  return tree;
}

/** Returns the resident memory of processes in bytes. Pages that they share count once for each. */
export function rssBytes(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const text = readText(`/proc/${pid}/smaps_rollup`) ?? readText(`/proc/${pid}/status`) ?? '';
    return sum + Number(/^(?:Rss|VmRSS):\s+(\d+) kB/m.exec(text)?.[1] ?? 0) * 1024;
  }, 0);
}

/** Returns the fields after the program's name, which may contain spaces and parentheses. */
function fieldsOf(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map((task) => `/proc/${pid}/task/${task}`);
  } catch {
    return [];
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
