import type { Readable } from 'node:stream';

/** One flag of a command. */
export interface Flag {
  readonly name: string;
  /** What stands for the value in help; flags without one are switches. */
  readonly value?: string;
  readonly multiple?: boolean;
  readonly help: string;
}

/** The command line after it was read: flags by name, and the words without a dash. */
export interface CommandLine {
  readonly words: readonly string[];
  /** Values of a flag, in order; empty when it was not given, `['true']` for a switch. */
  all(flag: string): readonly string[];
  /** The last value of a flag. */
  last(flag: string): string | undefined;
}

/** The exit codes of every command. */
export const EXIT = { ok: 0, failed: 1, usage: 2 } as const;

/** A command of the program. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  /** The words it takes, as help shows them. */
  readonly words: string;
  /** How many words it takes at least and at most. */
  readonly wordCount: readonly [least: number, most: number];
  readonly flags: readonly Flag[];
  /** Lines under the flags in help: examples first. */
  readonly notes: readonly string[];
  /** Answers with the exit code. */
  run(line: CommandLine, io: CommandIo): Promise<number>;
}

/** A command by its name; the rest of it is read when it is asked for. */
export interface CommandEntry {
  readonly name: string;
  load(): Promise<Command>;
}

/** A command line that makes no sense: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** A command that could not do what it was asked, for a reason that its message tells in full: exit code 1. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
}

/** What a command may touch of the process it runs in. */
export interface CommandIo {
  /** Results, one line at a time. */
  readonly out: (line: string) => void;
  /** Everything said to a person beside results: errors, the banner. */
  readonly err: (line: string) => void;
  readonly stdin: Readable & { readonly isTTY?: boolean; setRawMode?(raw: boolean): unknown };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The terminal that results go to; undefined where they go to a file or another program. */
  readonly terminal?: { readonly columns: number; readonly colours: boolean } | undefined;
  /** Writes over the last line of the terminal that a person watches; undefined where nobody does. */
  readonly live?: ((text: string) => void) | undefined;
}

/** The streams and the environment of this process. */
export function processIo(): CommandIo {
  process.stdout.on('error', tellUnlessClosed);
  process.stderr.on('error', () => undefined);
  return {
    out: (line) => void process.stdout.write(`${line}\n`),
    err: (line) => void process.stderr.write(`${line}\n`),
    stdin: process.stdin,
    env: process.env,
    cwd: process.cwd(),
    terminal: process.stdout.isTTY ? { columns: process.stdout.columns, colours: !process.env['NO_COLOR'] } : undefined,
    live: process.stderr.isTTY ? (text) => void process.stderr.write(`\r\u001b[K${text}`) : undefined,
  };
}

// A reader that has seen enough (`portico plan | head`) is no failure, and none of the command either: it goes on to its own exit code.
function tellUnlessClosed(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') return;
  process.stderr.write(`portico: the result cannot be written (${error.code ?? error.message})\n`);
  process.exit(1);
}
