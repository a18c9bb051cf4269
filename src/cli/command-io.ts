import type { Readable } from 'node:stream';

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
