import { type Command, EXIT } from '../command.ts';
import { CONFIG_FLAGS, settingsFrom } from '../config-flags.ts';
import { withAssembly } from '../config-flags.ts';

/** `portico permissions`: who may do what, as two tables. */
export const permissionsCommand: Command = {
  name: 'permissions',
  summary: 'Print role × operation and account × operation',
  words: '',
  wordCount: [0, 0],
  flags: CONFIG_FLAGS,
  notes: [],
  run: async (line, io) => {
    await withAssembly(await settingsFrom(line, io), (assembly) => io.out(assembly.permissionsMatrix));
    return EXIT.ok;
  },
};
