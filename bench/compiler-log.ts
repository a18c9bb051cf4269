import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** V8's log of what it optimizes. */
export interface CompilerLog {
  /** The options that make Node write the log. V8 writes only when it compiles, so a warm server is not slowed down. */
  readonly options: readonly string[];
  /** The working directory of the process; V8 writes one file for each of its threads there. */
  readonly folder: string;
  /** How many functions V8 has optimized so far, with either of its optimizing compilers. */
  count(): number;
}

/** Creates the folder for the log of one process, which must be started in it with the options. */
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

/** Counts the compilations that V8 has completed, of functions and of loops that were already running. */
export function countOptimizations(log: string): number {
  return log.match(/^\[completed compiling /gm)?.length ?? 0;
}
