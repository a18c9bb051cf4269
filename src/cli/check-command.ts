import { type Command, EXIT } from './command.ts';
import { CONFIG_FLAGS, settingsFrom } from './config-flags.ts';
import { withAssembly } from './offline-assembly.ts';

/** `portico check`: everything that would keep the gateway from starting, without starting it. */
export const checkCommand: Command = {
  name: 'check',
  summary: 'Check configuration, contract and roles, and print every fault',
  words: '',
  wordCount: [0, 0],
  flags: CONFIG_FLAGS,
  notes: ['The upstream is not called.'],
  run: async (line, io) => {
    const settings = await settingsFrom(line, io);
    const operations = await withAssembly(settings, (assembly) => assembly.planLines.length);
    io.out(`OK: ${settings.file}, ${operations} operations, mode ${settings.mode.name}`);
    return EXIT.ok;
  },
};
