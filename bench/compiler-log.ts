import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** V8's log of the functions that it optimizes. */
export interface CompilerLog {
  /**
   * The Node options that enable the log. V8 writes to the log only when it compiles a function, so the log does not
   * slow down warm servers.
   */
  readonly options: readonly string[];
  /** The working directory for the process. V8 writes one log file per thread to this folder. */
  readonly folder: string;
  /** Returns the number of functions that V8 has optimized so far, by Maglev or TurboFan. */
  count(): number;
}

/** Creates the folder for a process's log. The process must be started in this folder with the returned options. */
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

/** Returns the number of compilations that the log reports as completed. */
export function countOptimizations(log: string): number {
  return log.match(/^\[completed compiling /gm)?.length ?? 0;
}
