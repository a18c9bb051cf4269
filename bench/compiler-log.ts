import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** V8's log of the functions that it optimizes. */
export interface CompilerLog {
  /** The options of Node that enable the log. V8 writes to it only when it compiles, so warm servers are not slower. */
  readonly options: readonly string[];
  /** The working directory for the process. V8 writes one file for each thread to it. */
  readonly folder: string;
  /** Returns the number of functions that V8 has optimized so far, with Maglev or TurboFan. */
  count(): number;
}

/** Creates the folder for the log of a process, which must be started in it and with the options. */
export function compilerLog(folder: string): CompilerLog {
  mkdirSync(folder, { recursive: true });
  return {
    options: ['--trace-opt', '--redirect-code-traces'],
    folder,
    count: () =>
      readdirSync(folder)
        .filter((name) => /^code-\d+.*\.asm$/.test(name))
        .reduce((sum, name) => sum + countOptimizations(readFileSync(join(folder, name), 'latin1')), 0),
  };
}

/** Returns the number of completed compilations in a log. */
export function countOptimizations(log: string): number {
  return log.match(/^\[completed compiling /gm)?.length ?? 0;
}
