import { type CommandLine, UsageError } from './command.ts';

/** For each action of a command, the names of its flags, apart from those that all actions accept. */
export type ActionFlags = Readonly<Record<string, readonly string[]>>;

/** Throws a `UsageError` if the action is unknown, or if a flag of another action is given. */
export function checkAction(command: string, action: string, flags: ActionFlags, line: CommandLine): void {
  const own = flags[action];
  if (own === undefined) throw new UsageError(`${command} ${action}: must be one of ${Object.keys(flags).join(', ')}`);
  for (const flag of new Set(Object.values(flags).flat()))
    if (line.last(flag) !== undefined && !own.includes(flag))
      throw new UsageError(`--${flag} cannot be used with ${command} ${action}`);
}
