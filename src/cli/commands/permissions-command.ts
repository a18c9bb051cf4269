import { type Command, EXIT } from '../command.ts';
import { CONFIG_FLAGS, settingsFrom, withAssembly } from '../config-flags.ts';

/** The command `portico permissions` prints the operations that each role and each account may use. */
export const permissionsCommand: Command = {
  name: 'permissions',
  summary: 'Print the operations that each role and each account may use',
  args: '',
  argCount: [0, 0],
  flags: CONFIG_FLAGS,
  notes: [],
  run: async (line, io) => {
    await withAssembly(await settingsFrom(line, io), (assembly) => io.out(assembly.permissionsMatrix));
    return EXIT.ok;
  },
};
