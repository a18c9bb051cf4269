import type { Command, Flag } from './command.ts';

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
