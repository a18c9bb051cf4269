/** One flag of a command. */
export interface Flag {
  readonly name: string;
  /** The placeholder for the flag's value in the help text. Undefined for a flag that takes no value. */
  readonly value?: string;
  /** The possible values, for shell completion. */
  readonly choices?: readonly string[];
  readonly multiple?: boolean;
  readonly help: string;
}

/** A parsed command line with its flags and positional arguments. */
export interface CommandLine {
  readonly args: readonly string[];
  /** Returns all values of a flag, in order. A flag that takes no value has the value `'true'`. */
  all(flag: string): readonly string[];
  /** Returns the last value of a flag, or undefined if the flag is absent. */
  last(flag: string): string | undefined;
  /** Returns whether a flag is present. */
  has(flag: string): boolean;
}

/** The exit codes that all commands use. */
export const EXIT = { ok: 0, failed: 1, usage: 2 } as const;

/** A command of the program. `Io` is what it needs of the process. */
export interface Command<Io extends CommandIo = CommandIo> {
  readonly name: string;
  readonly summary: string;
  /** The positional arguments as they appear in the help text. */
  readonly args: string;
  /** The minimum and maximum numbers of positional arguments. */
  readonly argCount: readonly [min: number, max: number];
  /** The possible values of the first argument, for shell completion. */
  readonly argChoices?: readonly string[];
  readonly flags: readonly Flag[];
  /**
   * The lines below the flags in the help text. The examples come first. `{operation}` and `{target}` stand for an
   * operation of the API and a request for it.
   */
  readonly notes: readonly string[];
  /** Runs the command and returns its exit code. */
  run(line: CommandLine, io: Io): Promise<number>;
}

/** The name of a command, and a function that imports the command's module. */
export interface CommandEntry<Io extends CommandIo = CommandIo> {
  readonly name: string;
  load(): Promise<Command<Io>>;
}

/** An invalid command line. The program exits with code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** A failure whose message fully explains the cause. The program exits with code 1. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
}

/** The parts of the process that a command can use. */
export interface CommandIo {
  /** Writes a line to the command's result. */
  readonly out: (line: string) => void;
  /** Writes a line for the user that is not part of the result, such as an error or the banner. */
  readonly err: (line: string) => void;
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The terminal to which the result is written. Undefined if the result goes to a file or another program. */
  readonly terminal?: { readonly columns: number; readonly colors: boolean } | undefined;
  /** Overwrites the last line of the terminal. Undefined if standard error is not a terminal. */
  readonly live?: ((text: string) => void) | undefined;
}
