import { Readable } from 'node:stream';
import { COMMANDS } from '../../src/cli/commands.ts';
import { runProgram } from '../../src/cli/run-program.ts';

/** Runs the program inside this process; for command lines that start nothing. */
export async function runInProcess(argv: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const text = { out: '', err: '' };
  const io = {
    out: (line: string) => void (text.out += `${line}\n`),
    err: (line: string) => void (text.err += `${line}\n`),
    stdin: Readable.from([]),
    env: {},
    cwd: '/',
  };
  return { code: await runProgram(COMMANDS, argv, io), ...text };
}
