import { parseArgs } from 'node:util';
import { fileReason } from '../lib/file-reason.ts';
import { packageVersion } from '../lib/package-root.ts';
import { closestName, didYouMean } from '../lib/closest-name.ts';
import { distinctFaults, type Fault, StartFault } from '../engine/model/fault.ts';
import { CommandFailure, type CommandIo, EXIT, type Flag, UsageError, type CommandLine } from '../lib/command.ts';
import { type Program, type ProgramCommand, type ProgramProduct, withExamples } from './program.ts';

/**
 * Runs a command and returns the exit code: 0 for success, 1 for configuration errors or a failure, and 2 for a usage
 * error.
 */
export async function runProgram(
  { commands, product }: Program,
  argv: readonly string[],
  io: CommandIo,
): Promise<number> {
  const [first, ...rest] = argv;
  if (first === '--version' || first === '-v') {
    io.out(packageVersion());
    return EXIT.ok;
  }
  const isHelp = first === '--help' || first === '-h' || (first === 'help' && rest.length === 0);
  if (first === undefined || isHelp) {
    const all = await Promise.all(commands.map((command) => command.load()));
    (first === undefined ? io.err : io.out)(programHelp(all, packageVersion()));
    return first === undefined ? EXIT.usage : EXIT.ok;
  }
  try {
    if (first === 'help') {
      const [name = '', ...more] = rest;
      if (more.length > 0) throw new UsageError('help requires one command: portico help COMMAND');
      io.out(commandHelp(await findCommand(commands, name).load(), product));
      return EXIT.ok;
    }
    const command = await findCommand(commands, first).load();
    const line = parseCommandLine(command, rest);
    if (line !== 'help') return await command.run(line, { ...io, product });
    io.out(commandHelp(command, product));
    return EXIT.ok;
  } catch (error) {
    if (error instanceof UsageError) {
      io.err(`portico: ${error.message}`);
      io.err('Run portico help for a list of commands, or portico help COMMAND for the flags of a command.');
      return EXIT.usage;
    }
    failureLines(error, io.env, first).forEach(io.err);
    return EXIT.failed;
  }
}

function findCommand(commands: Program['commands'], name: string): Program['commands'][number] {
  const command = commands.find((one) => one.name === name);
  if (command !== undefined) return command;
  const names = commands.map((one) => one.name);
  throw new UsageError(`unknown command "${name}"${didYouMean(name, names)}`);
}

/** Returns whether errors prevent the gateway or the reference server from starting. Others are about one command. */
const preventStart = (command: string, faults: readonly Fault[]): boolean =>
  command === 'serve' ||
  command === 'reference' ||
  (command === 'check' && faults.some(({ source }) => !source.startsWith('--')));

/** Returns lines describing the error that ended a command. `env` shows whether the user asks for a stack trace. */
export function failureLines(error: unknown, env: CommandIo['env'] = {}, command = 'serve'): string[] {
  if (error instanceof StartFault)
    return preventStart(command, error.faults)
      ? faultLines('portico cannot start', error.faults)
      : faultLines(`portico ${command}`, error.faults, 'error');
  if (error instanceof CommandFailure) return [`portico: ${error.message}`];
  if (!(error instanceof Error)) return [OWN_FAULT];
  const listening = listenFailure(error);
  if (listening !== undefined) return [listening];
  if ('syscall' in error) return [`portico failed: ${pathOf(error)}${fileReason(error)}`];
  // The text of such an error is for developers only.
  if (/\bportico\b/.test(env['NODE_DEBUG'] ?? '')) return [`portico failed: ${error.stack ?? error.message}`];
  return [OWN_FAULT];
}

const OWN_FAULT =
  'portico failed because of an error in Portico itself: run the command again with NODE_DEBUG=portico, and report the output';

const pathOf = (error: Error) => ('path' in error ? `${String(error.path)}: ` : '');

function listenFailure(error: Error): string | undefined {
  const { code, syscall, address, port } = error as NodeJS.ErrnoException & { address?: string; port?: number };
  if (syscall !== 'listen' && syscall !== 'bind' && syscall !== 'getaddrinfo') return undefined;
  const place = `${address ?? 'the address'}${port === undefined ? '' : `:${port}`}`;
  if (code === 'EADDRINUSE')
    return `portico cannot listen on ${place}: address already in use (choose another port with PORT or ADMIN_PORT, or with the flags)`;
  if (code === 'EACCES') return `portico cannot listen on ${place}: ports below 1024 require additional privileges`;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return `portico cannot listen on ${place}: not an address of this machine (HOST, ADMIN_HOST)`;
  return undefined;
}

/**
 * Returns a line stating what failed, followed by lines for each distinct configuration error with its source, pointer,
 * message and suggestion.
 */
export function faultLines(what: string, found: readonly Fault[], noun = 'configuration error'): string[] {
  const faults = distinctFaults(found);
  const count = faults.length === 1 ? `1 ${noun}` : `${faults.length} ${noun}s`;
  return [
    `${what}: ${count}`,
    ...faults.flatMap((fault) => [
      `  ${fault.source}${fault.pointer === '' ? '' : ` ${fault.pointer}`}`,
      `    ${fault.message}${fault.suggestion === undefined ? '' : ` (${fault.suggestion})`}`,
    ]),
  ];
}

/** Returns the program's help text, with one line for each command. */
function programHelp(commands: readonly ProgramCommand[], version: string): string {
  const width = Math.max(...commands.map((command) => command.name.length));
  return [
    `portico ${version}: a contract-enforcing gateway in front of a legacy community Q&A server`,
    '',
    'Usage: portico COMMAND [flags]',
    '',
    ...commands.map((command) => `  ${command.name.padEnd(width)}  ${command.summary}`),
    '',
    'Run portico help COMMAND for details. Exit codes: 0 success, 1 configuration errors or failure, 2 usage error.',
  ].join('\n');
}

function commandHelp(command: ProgramCommand, product: ProgramProduct): string {
  return [
    `${command.summary}.`,
    '',
    usageOf(command),
    '',
    ...flagLines([...command.flags, { name: 'help', help: 'Show this help.' }]),
    ...(command.notes.length > 0 ? ['', ...command.notes.map((note) => withExamples(note, product))] : []),
  ].join('\n');
}

/** Returns the line that shows how a command is called. */
export const usageOf = ({ name, args }: Pick<ProgramCommand, 'name' | 'args'>): string =>
  `Usage: ${['portico', name, args, '[flags]'].filter((part) => part !== '').join(' ')}`;

/** Returns one line for each flag, with the descriptions aligned. */
export function flagLines(flags: readonly Flag[]): string[] {
  const rows = flags.map((flag) => ({
    left: `--${flag.name}${flag.value !== undefined ? ` ${flag.value}` : ''}`,
    right: `${flag.help}${flag.multiple === true ? ' May be repeated.' : ''}`,
  }));
  const width = Math.max(...rows.map((row) => row.left.length));
  return rows.map((row) => `  ${row.left.padEnd(width)}  ${row.right}`);
}

/** Parses the arguments after the command's name. Throws a UsageError if an argument is unknown or invalid. */
function parseCommandLine(command: ProgramCommand, argv: readonly string[]): CommandLine | 'help' {
  const flags = new Map(command.flags.map((flag) => [flag.name, flag]));
  const { tokens } = parseArgs({
    args: [...argv],
    strict: false,
    tokens: true,
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h' },
      ...Object.fromEntries(
        command.flags.map((flag) => [flag.name, { type: flag.value === undefined ? 'boolean' : 'string' } as const]),
      ),
    },
  });
  const flagValues = new Map<string, string[]>();
  const args: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') args.push(token.value);
    if (token.kind !== 'option') continue;
    if (token.name === 'help') return 'help';
    const flag = flags.get(token.name);
    if (flag === undefined) throw unknownFlag(token.rawName, command);
    // A value that looks like a flag indicates that the actual value is missing, unless it follows an equals sign.
    const missing = token.value === undefined || (token.value.startsWith('--') && !token.inlineValue);
    if (flag.value !== undefined && missing)
      throw new UsageError(`--${flag.name} requires a value: --${flag.name} ${flag.value}`);
    if (flag.value === undefined && token.value !== undefined)
      throw new UsageError(`--${flag.name} does not take a value`);
    const values = flagValues.get(flag.name) ?? [];
    if (values.length > 0 && flag.multiple !== true) throw new UsageError(`--${flag.name} may be used only once`);
    flagValues.set(flag.name, [...values, token.value ?? 'true']);
  }
  const [min, max] = command.argCount;
  if (args.length < min) throw new UsageError(`${command.name} requires ${command.args}`);
  if (args.length > max)
    throw new UsageError(`${command.name}: unexpected argument "${withoutUserinfo(args[max] ?? '')}"`);
  return {
    args,
    all: (name) => flagValues.get(name) ?? [],
    last: (name) => flagValues.get(name)?.at(-1),
    has: (name) => flagValues.has(name),
  };
}

/** Removes the user name and the password from a URL, so that messages do not reveal them. */
const withoutUserinfo = (word: string) => word.replace(/(?<![^/?#\s])[^/?#\s]*@/, '');

function unknownFlag(rawName: string, command: ProgramCommand): UsageError {
  const near = closestName(rawName.replace(/^-+/, ''), [...command.flags.map((flag) => flag.name), 'help']);
  const hint = near === undefined ? '' : `; did you mean --${near}?`;
  return new UsageError(`${command.name}: unknown flag ${rawName}${hint}`);
}
