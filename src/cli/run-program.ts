import { packageVersion } from '../files/package-root.ts';
import { closestName } from '../lib/closest-name.ts';
import { type Fault, StartFault } from '../model/fault.ts';
import {
  type Command,
  type CommandEntry,
  CommandFailure,
  type CommandIo,
  EXIT,
  type Flag,
  UsageError,
} from './command.ts';
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

/** What to tell a person about an error that ended a command. */
export function failureLines(error: unknown): string[] {
  if (error instanceof StartFault) return faultLines(error.faults);
  if (error instanceof CommandFailure) return [`portico: ${error.message}`];
  if (!(error instanceof Error)) return [`portico failed: ${String(error)}`];
  const listening = listenFailure(error);
  if (listening !== undefined) return [listening];
  return [`portico failed: ${error.stack ?? error.message}`];
}

function listenFailure(error: Error): string | undefined {
  const { code, syscall, address, port } = error as NodeJS.ErrnoException & { address?: string; port?: number };
  if (syscall !== 'listen' && syscall !== 'getaddrinfo') return undefined;
  const place = `${address ?? 'the address'}${port === undefined ? '' : `:${port}`}`;
  if (code === 'EADDRINUSE')
    return `portico cannot listen on ${place}: something else does already (choose another with PORT or ADMIN_PORT, or the flags)`;
  if (code === 'EACCES') return `portico may not listen on ${place}: ports below 1024 need a privilege`;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return `portico cannot listen on ${place}: this machine has no such address (HOST, ADMIN_HOST)`;
  return undefined;
}

/** All faults as one block, each once: source and pointer, what is wrong, and what to write instead. */
export function faultLines(found: readonly Fault[]): string[] {
  // Two steps of the start may meet the same fault.
  const faults = [...new Map(found.map((fault) => [JSON.stringify(fault), fault])).values()];
  const count = faults.length === 1 ? '1 fault' : `${faults.length} faults`;
  return [
    `portico cannot start: ${count}`,
    ...faults.flatMap((fault) => [
      `  ${fault.source}${fault.pointer === '' ? '' : ` ${fault.pointer}`}`,
      `    ${fault.message}${fault.suggestion === undefined ? '' : ` (${fault.suggestion})`}`,
    ]),
  ];
}

/** The help of the program: one line per command. */
export function programHelp(commands: readonly Command[], version: string): string {
  const width = Math.max(...commands.map((command) => command.name.length));
  return [
    `portico ${version}: a contract-enforcing gateway in front of a legacy community Q&A server`,
    '',
    'Usage: portico COMMAND [flags]',
    '',
    ...commands.map((command) => `  ${command.name.padEnd(width)}  ${command.summary}`),
    '',
    'portico COMMAND --help says more. Exit codes: 0 done, 1 faults or failure, 2 wrong usage.',
  ].join('\n');
}

/** The help of one command. */
export function commandHelp(command: Command): string {
  const flags: readonly Flag[] = [...command.flags, { name: 'help', help: 'Show this.' }];
  const rows = flags.map((flag) => ({
    left: `--${flag.name}${flag.value !== undefined ? ` ${flag.value}` : ''}`,
    right: `${flag.help}${flag.multiple === true ? ' May be repeated.' : ''}`,
  }));
  const width = Math.max(...rows.map((row) => row.left.length));
  const usage = ['portico', command.name, command.words, '[flags]'].filter((word) => word !== '').join(' ');
  return [
    `${command.summary}.`,
    '',
    `Usage: ${usage}`,
    '',
    ...rows.map((row) => `  ${row.left.padEnd(width)}  ${row.right}`),
    ...(command.notes.length > 0 ? ['', ...command.notes] : []),
  ].join('\n');
}
