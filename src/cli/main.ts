import { fileReason } from '../lib/file-reason.ts';
import type { CommandIo } from '../lib/command.ts';
import { PROGRAM } from './commands.ts';
import { runProgram } from './run-program.ts';

process.exitCode = await runProgram(PROGRAM, process.argv.slice(2), processIo());

/** Returns this process's streams and environment. */
function processIo(): CommandIo {
  process.stdout.on('error', exitUnlessClosed);
  process.stderr.on('error', () => undefined);
  return {
    out: (line) => void process.stdout.write(`${line}\n`),
    err: (line) => void process.stderr.write(`${line}\n`),
    stdin: process.stdin,
    env: process.env,
    cwd: process.cwd(),
    terminal: process.stdout.isTTY ? { columns: process.stdout.columns, colors: !process.env['NO_COLOR'] } : undefined,
    live: process.stderr.isTTY ? (text) => void process.stderr.write(`\r\u001b[K${text}`) : undefined,
  };
}

// A reader may close a stream early, as in `portico plan | head`. This is not a failure: the command continues and
// determines the exit code.
function exitUnlessClosed(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') return;
  process.stderr.write(`portico: the result cannot be written: ${fileReason(error)}\n`);
  process.exit(1);
}
