import { contractWords } from '../terminal/banner.ts';
import { type Command, EXIT } from '../command.ts';
import { CONFIG_FLAGS, settingsFrom } from '../config-flags.ts';
import { withAssembly } from '../config-flags.ts';
import { warningLines } from '../terminal/banner.ts';

/** `portico plan`: the stages that each operation passes, one line per operation. */
export const planCommand: Command = {
  name: 'plan',
  summary: 'Print the stages that a request of each operation passes',
  words: '',
  wordCount: [0, 0],
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
