import { parseArgs } from 'node:util';
import { closestName } from '../lib/closest-name.ts';
import { type Command, type CommandLine, UsageError } from './command.ts';

/** Reads the words after the command's name; throws UsageError for what the command does not take. */
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
  const given = new Map<string, string[]>();
  const words: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(token.value);
    if (token.kind !== 'option') continue;
    if (token.name === 'help') return 'help';
    const flag = flags.get(token.name);
    if (flag === undefined) throw unknownFlag(token.rawName, command);
    // A value that looks like a flag was forgotten, unless it was written with an equals sign.
    const missing = token.value === undefined || (token.value.startsWith('--') && !token.inlineValue);
    if (flag.value !== undefined && missing)
      throw new UsageError(`--${flag.name} needs a value: --${flag.name} ${flag.value}`);
    if (flag.value === undefined && token.value !== undefined) throw new UsageError(`--${flag.name} takes no value`);
    const values = given.get(flag.name) ?? [];
    if (values.length > 0 && flag.multiple !== true) throw new UsageError(`--${flag.name} was given twice`);
    given.set(flag.name, [...values, token.value ?? 'true']);
  }
  const [least, most] = command.wordCount;
  if (words.length < least) throw new UsageError(`${command.name} needs ${command.words}`);
  if (words.length > most)
    throw new UsageError(`${command.name} does not take "${withoutUserinfo(words[most] ?? '')}"`);
  return { words, all: (name) => given.get(name) ?? [], last: (name) => given.get(name)?.at(-1) };
}

/** An address without the name and the password in it. */
const withoutUserinfo = (word: string) => word.replace(/[^/?#\s]*@/, '');

function unknownFlag(rawName: string, command: Command): UsageError {
  const near = closestName(rawName.replace(/^-+/, ''), [...command.flags.map((flag) => flag.name), 'help']);
  const hint = near === undefined ? '' : `; did you mean --${near}?`;
  return new UsageError(`${command.name} does not know ${rawName}${hint}`);
}
