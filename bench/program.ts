import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, ftruncateSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SERVER_CORE } from './cores.ts';
import { accepts } from './free-port.ts';
import { pathWithSbin } from './machine.ts';
import { createCpuTime, rssBytes, treeOf } from './process-usage.ts';

/** A program to start. It is ready when it accepts connections on its port. */
export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly port: number;
  /** The working directory, which also gets the output: `output.log`, or what the program is told to use. */
  readonly folder: string;
  /** The file in the folder that the program appends a line to for each request. */
  readonly log?: string;
}

/** A running program with its child processes. */
export interface Running {
  readonly pid: number;
  /** Returns the CPU time of all its processes in nanoseconds. */
  cpuNs(): number;
  /** Returns the resident memory of all its processes in bytes. */
  rssBytes(): number;
  /** Empties the log, so that a run does not fill the disk. */
  emptyLog(): void;
  /** Returns how the program ended, with its last words. Undefined while it is running. */
  ended(): string | undefined;
  stop(): Promise<void>;
}

/** The core of each running program, by process id. */
const alive = new Map<number, number>();

/** Starts a program on a core and waits until it is ready. Only one program may be alive on the server's core. */
export async function startProgram(program: Program, core: number): Promise<Running> {
  const { command, args, port, folder, log = 'output.log' } = program;
  if (core === SERVER_CORE && [...alive.values()].includes(SERVER_CORE))
    throw new Error(`${command} must not start while another server is alive`);
  const out = openSync(join(folder, log), 'a');
  const errors = join(folder, 'errors.log');
  const err = openSync(errors, 'a');
  const child = spawn('taskset', ['-c', String(core), command, ...args], {
    stdio: ['ignore', out, err],
    cwd: folder,
    // The units and the image in deploy/ set the same number of arenas.
    env: { ...pathWithSbin(), NODE_ENV: 'production', MALLOC_ARENA_MAX: '1' },
  });
  closeSync(err);
  const { pid } = child;
  if (pid === undefined) throw new Error('taskset cannot be started');
  alive.set(pid, core);
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  const ended = () =>
    hasEnded()
      ? `it ended with ${child.exitCode ?? child.signalCode}: ${readFileSync(errors, 'utf8').slice(-2000)}`
      : undefined;
  const stop = async () => {
    await stopTree(child, pid);
    alive.delete(pid);
    closeSync(out);
  };
  try {
    await untilAccepting(port, ended);
  } catch (error) {
    await stop();
    throw error;
  }
  const cpuTime = createCpuTime();
  return {
    pid,
    cpuNs: () => cpuTime(treeOf(pid)),
    rssBytes: () => rssBytes(treeOf(pid)),
    emptyLog: () => ftruncateSync(out),
    ended,
    stop,
  };
}

/** Kills all programs that are still running. */
export function killAll(): void {
  for (const pid of alive.keys()) for (const one of treeOf(pid).reverse()) kill(one, 'SIGKILL');
  alive.clear();
}

async function untilAccepting(port: number, ended: () => string | undefined): Promise<void> {
  for (const giveUpAt = performance.now() + 30_000; performance.now() < giveUpAt;) {
    const words = ended();
    if (words !== undefined) throw new Error(`the server did not start: ${words}`);
    if (await accepts(port)) return;
    await new Promise((resolve) => setTimeout(resolve, 3));
  }
  throw new Error(`port ${port} stayed closed for 30 s`);
}

/** How long a program may take to end, for example because it writes a profile. */
const ENDING_MS = 10_000;

/** Asks the processes to end, and kills those that do not. */
async function stopTree(child: ChildProcess, pid: number): Promise<void> {
  const tree = treeOf(pid);
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  const ended = new Promise<void>((resolve) => {
    if (hasEnded()) resolve();
    else child.once('exit', () => resolve());
  });
  child.kill('SIGTERM');
  await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, ENDING_MS).unref())]);
  for (const one of tree.reverse()) if (one !== pid || !hasEnded()) kill(one, 'SIGKILL');
  await ended;
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has already ended.
  }
}
