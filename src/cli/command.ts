import type { CommandIo } from './command-io.ts';

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
