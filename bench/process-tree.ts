import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, ftruncateSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { type CpuTimes, createCpuTimes } from './cpu-time.ts';
import { SERVER_CORE } from './cores.ts';
import { accepts } from './free-port.ts';
import { pathWithSbin } from './machine.ts';

/** A program to start, its core, its output file, and the port on which it accepts connections when it is ready. */
export interface Program {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly core: number;
  readonly port: number;
  /** The file for standard output. Standard error is appended to a file with the same name and the `.err` suffix. */
  readonly output: string;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** A running program and all its child processes. */
export interface Running {
  readonly pid: number;
  /** Returns the CPU time of the entire process tree in nanoseconds. */
  cpuTimes(): CpuTimes;
  /**
   * Returns the resident memory of the entire process tree in bytes. Shared pages are counted once for each process.
   */
  rssBytes(): number;
  /** Empties the output file. Programs append to it, so their next output starts at the beginning of the file. */
  emptyOutput(): void;
  /**
   * Returns the exit code and the last output if the program has ended on its own. Returns undefined while the program
   * is running.
   */
  exitMessage(): string | undefined;
  stop(): Promise<void>;
}

/** The core of each running program, keyed by process id. */
const alive = new Map<number, number>();

/**
 * Starts a program on its core. Resolves when the program's port accepts connections. Rejects if the program exits
 * before that.
 */
export async function startProgram(program: Program): Promise<Running> {
  const { name, command, args, core, port, output, cwd, env } = program;
  if (core === SERVER_CORE && [...alive.values()].includes(SERVER_CORE))
    throw new Error(`${name} must not start while another server is alive`);
  const out = openSync(output, 'a');
  const err = openSync(`${output}.err`, 'a');
  const child = spawn('taskset', ['-c', String(core), command, ...args], {
    stdio: ['ignore', out, err],
    cwd,
    // The units and the image in deploy/ set this, too. With an arena for each thread, the process would keep more memory.
    env: { ...pathWithSbin(), MALLOC_ARENA_MAX: '1', ...env },
  });
  closeSync(err);
  const pid = child.pid;
  if (pid === undefined) throw new Error(`${name}: taskset cannot be started`);
  alive.set(pid, core);
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stop = async () => {
    await stopTree(child, pid, ended);
    alive.delete(pid);
    closeSync(out);
  };
  try {
    await untilAccepting(port, () => child.exitCode !== null || child.signalCode !== null);
  } catch (error) {
    await stop();
    const words = readFileSync(`${output}.err`, 'utf8').slice(-2000);
    throw new Error(`${name} did not start: ${(error as Error).message}\n${words}`, { cause: error });
  }
  const readCpuTimes = createCpuTimes();
  return {
    pid,
    cpuTimes: () => readCpuTimes(treeOf(pid)),
    rssBytes: () => {
      const bytes = treeOf(pid).reduce((sum, one) => sum + rssBytesOf(one), 0);
      if (bytes === 0) throw new Error(`${name}: its memory cannot be read; it may have ended`);
      return bytes;
    },
    emptyOutput: () => ftruncateSync(out),
    exitMessage: () =>
      child.exitCode === null && child.signalCode === null
        ? undefined
        : `ended with ${child.exitCode ?? child.signalCode ?? 'nothing'}: ${readFileSync(`${output}.err`, 'utf8').slice(-2000)}`,
    stop,
  };
}

/** Kills all programs that are still running. Must be called whether or not the benchmark succeeds. */
export function killAll(): void {
  for (const pid of alive.keys()) for (const one of treeOf(pid).reverse()) kill(one, 'SIGKILL');
  alive.clear();
}

async function stopTree(child: ChildProcess, pid: number, ended: Promise<void>): Promise<void> {
  const tree = treeOf(pid);
  child.kill('SIGTERM');
  const late = new Promise<'late'>((resolve) => setTimeout(resolve, 1000, 'late').unref());
  await Promise.race([ended, late]);
  for (const one of tree.reverse()) if (one !== pid || child.exitCode === null) kill(one, 'SIGKILL');
  if (child.exitCode === null && child.signalCode === null) await ended;
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has already ended.
  }
}

async function untilAccepting(port: number, hasEnded: () => boolean): Promise<void> {
  const giveUpAt = performance.now() + 30_000;
  while (performance.now() < giveUpAt) {
    if (hasEnded()) throw new Error('it ended before its port was open');
    if (await accepts(port)) return;
    await new Promise((resolve) => setTimeout(resolve, 3));
  }
  throw new Error(`port ${port} stayed closed for 30 s`);
}

/** Returns a process and all its descendants. Parents come before their children. */
function treeOf(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const parent = parentOf(Number(name));
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const tree = [root];
  for (let at = 0; at < tree.length; at += 1) tree.push(...(children.get(tree[at] ?? 0) ?? []));
  return tree;
}

function parentOf(pid: number): number | undefined {
  const stat = read(`/proc/${pid}/stat`);
  // The program name, which may contain spaces and parentheses, precedes the state and the parent's id.
  return stat === undefined ? undefined : Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}

function rssBytesOf(pid: number): number {
  const text = read(`/proc/${pid}/smaps_rollup`) ?? read(`/proc/${pid}/status`) ?? '';
  const found = /^(?:Rss|VmRSS):\s+(\d+) kB/m.exec(text);
  return Number(found?.[1] ?? 0) * 1024;
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
