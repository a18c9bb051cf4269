import { COMMANDS } from '../../src/cli/commands.ts';
import { runProgram } from '../../src/cli/run-program.ts';
import { processIoOf } from './process-io-of.ts';

/** Runs the program inside this process; for command lines that start nothing. */
export async function runInProcess(argv: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const { io, text } = processIoOf('/');
  return { code: await runProgram(COMMANDS, argv, io), ...text };
}
