import { type Command, EXIT } from './command.ts';
import { CONFIG_FLAGS, settingsFrom } from './config-flags.ts';
import { withAssembly } from './offline-assembly.ts';

/** `portico plan`: the stages that each operation passes, one line per operation. */
export const planCommand: Command = {
  name: 'plan',
  summary: 'Print the stages that a request of each operation passes',
  words: '',
  wordCount: [0, 0],
  flags: CONFIG_FLAGS,
  notes: [],
  run: async (line, io) => {
    await withAssembly(await settingsFrom(line, io), (assembly) => assembly.planLines.forEach(io.out));
    return EXIT.ok;
  },
};
