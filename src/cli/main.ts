import { processIo } from './command.ts';
import { COMMANDS } from './commands.ts';
import { runProgram } from './run-program.ts';

process.exitCode = await runProgram(COMMANDS, process.argv.slice(2), processIo());
