import { contractWords, warningLines } from '../terminal/banner.ts';
import { type Command, EXIT } from '../command.ts';
import { CONFIG_FLAGS, settingsFrom, withAssembly } from '../config-flags.ts';

/**
 * The command `portico plan` prints the stages of each operation, one line per operation, and a line for undocumented
 * paths.
 */
export const planCommand: Command = {
  name: 'plan',
  summary: 'Print the stages of each operation',
  args: '',
  argCount: [0, 0],
  flags: CONFIG_FLAGS,
  notes: [],
  run: async (line, io) => {
    const settings = await settingsFrom(line, io);
    await withAssembly(settings, ({ warnings, planLines }) => {
      warningLines(warnings).forEach(io.err);
      for (const words of contractWords(settings.contract)) io.err(`contract: ${words}`);
      planLines.forEach(io.out);
    });
    return EXIT.ok;
  },
};
