import type { Readable } from 'node:stream';

/** One flag of a command. */
export interface Flag {
  readonly name: string;
  /** The placeholder for the value in the help text; a flag without one is a switch. */
  readonly value?: string;
  readonly multiple?: boolean;
  readonly help: string;
}

/** A parsed command line: flags by name, and positional arguments. */
export interface CommandLine {
  readonly args: readonly string[];
  /** Returns the values of a flag in order: empty if the flag is absent, `['true']` for a switch. */
  all(flag: string): readonly string[];
  /** Returns the last value of a flag. */
  last(flag: string): string | undefined;
}

/** The exit codes of all commands. */
export const EXIT = { ok: 0, failed: 1, usage: 2 } as const;

/** A command of the program. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  /** The positional arguments as shown in the help text. */
  readonly args: string;
  /** The minimum and maximum number of positional arguments. */
  readonly argCount: readonly [min: number, max: number];
  readonly flags: readonly Flag[];
  /** Lines below the flags in the help text, examples first. */
  readonly notes: readonly string[];
  /** Returns the exit code. */
  run(line: CommandLine, io: CommandIo): Promise<number>;
}

/** A command's name, and a function that imports its module when it is used. */
export interface CommandEntry {
  readonly name: string;
  load(): Promise<Command>;
}

/** An invalid command line: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** A failed command whose message explains the reason completely: exit code 1. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
}

/** The parts of the process that a command may use. */
export interface CommandIo {
  /** Writes a line of the result. */
  readonly out: (line: string) => void;
  /** Writes a line for people that is not part of the result, such as errors and the banner. */
  readonly err: (line: string) => void;
  readonly stdin: Readable & { readonly isTTY?: boolean; setRawMode?(raw: boolean): unknown };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The terminal that receives the result; undefined if it goes to a file or another program. */
  readonly terminal?: { readonly columns: number; readonly colors: boolean } | undefined;
  /** Overwrites the last line of the terminal; undefined if standard error is not a terminal. */
  readonly live?: ((text: string) => void) | undefined;
}

/** Returns the streams and the environment of this process. */
export function processIo(): CommandIo {
  process.stdout.on('error', exitUnlessClosed);
  process.stderr.on('error', () => undefined);
  return {
    out: (line) => void process.stdout.write(`${line}\n`),
    err: (line) => void process.stderr.write(`${line}\n`),
    stdin: process.stdin,
    env: process.env,
    cwd: process.cwd(),
    terminal: process.stdout.isTTY ? { columns: process.stdout.columns, colors: !process.env['NO_COLOR'] } : undefined,
    live: process.stderr.isTTY ? (text) => void process.stderr.write(`\r\u001b[K${text}`) : undefined,
  };
}

// A reader that closes early (`portico plan | head`) is not a failure: the command continues to its own exit code.
function exitUnlessClosed(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') return;
  process.stderr.write(`portico: the result cannot be written (${error.code ?? error.message})\n`);
  process.exit(1);
}
