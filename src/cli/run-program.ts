import { packageVersion } from '../config/package-root.ts';
import { closestName } from '../lib/closest-name.ts';
import type { CommandIo } from './command-io.ts';
import { type CommandEntry, EXIT, UsageError } from './command.ts';
import { failureLines } from './failure-lines.ts';
import { commandHelp, programHelp } from './help-text.ts';
import { parseCommandLine } from './parse-command-line.ts';

/** Runs the command that the words name and answers with the exit code: 0 done, 1 faults or failure, 2 wrong usage. */
export async function runProgram(
  commands: readonly CommandEntry[],
  argv: readonly string[],
  io: CommandIo,
): Promise<number> {
  const [first, ...rest] = argv;
  if (first === '--version' || first === '-v') {
    io.out(packageVersion());
    return EXIT.ok;
  }
  if (first === undefined || first === '--help' || first === '-h' || first === 'help') {
    const all = await Promise.all(commands.map((command) => command.load()));
    (first === undefined ? io.err : io.out)(programHelp(all, packageVersion()));
    return first === undefined ? EXIT.usage : EXIT.ok;
  }
  try {
    const command = await commandNamed(commands, first).load();
    const line = parseCommandLine(command, rest);
    if (line !== 'help') return await command.run(line, io);
    io.out(commandHelp(command));
    return EXIT.ok;
  } catch (error) {
    if (error instanceof UsageError) {
      io.err(`portico: ${error.message}`);
      io.err('portico --help lists commands; portico COMMAND --help says what one takes.');
      return EXIT.usage;
    }
    failureLines(error).forEach(io.err);
    return EXIT.failed;
  }
}

function commandNamed(commands: readonly CommandEntry[], name: string): CommandEntry {
  const command = commands.find((one) => one.name === name);
  if (command !== undefined) return command;
  const near = closestName(
    name,
    commands.map((one) => one.name),
  );
  throw new UsageError(`there is no command "${name}"${near === undefined ? '' : `; did you mean ${near}?`}`);
}
