import { parseArgs } from 'node:util';
import { closestName } from '../lib/closest-name.ts';
import { type Command, type CommandLine, UsageError } from './command.ts';

/** Parses the arguments after the command's name. Throws a UsageError if an argument is unknown or invalid. */
export function parseCommandLine(command: Command, argv: readonly string[]): CommandLine | 'help' {
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
    // A value that looks like a flag means that the real value is missing, unless it follows an equals sign.
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
  return { args, all: (name) => flagValues.get(name) ?? [], last: (name) => flagValues.get(name)?.at(-1) };
}

/** Removes the name and the password from a URL so that messages do not repeat them. */
const withoutUserinfo = (word: string) => word.replace(/[^/?#\s]*@/, '');

function unknownFlag(rawName: string, command: Command): UsageError {
  const near = closestName(rawName.replace(/^-+/, ''), [...command.flags.map((flag) => flag.name), 'help']);
  const hint = near === undefined ? '' : `; did you mean --${near}?`;
  return new UsageError(`${command.name}: unknown flag ${rawName}${hint}`);
}
