import { PROGRAM } from '../../src/cli/commands.ts';
import { runProgram } from '../../src/cli/run-program.ts';
import { processIoOf } from './process-io-of.ts';

/** Runs the program inside this process, in the `/` folder. Use it only for commands that do not start a server. */
export async function runInProcess(
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
  input = '',
): Promise<{ code: number; out: string; err: string }> {
  const { io, text } = processIoOf('/', { env, input });
  return { code: await runProgram(PROGRAM, argv, io), ...text };
}
