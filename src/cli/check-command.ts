import { contractWords } from './contract-words.ts';
import { type Command, EXIT } from './command.ts';
import { CONFIG_FLAGS, settingsFrom } from './config-flags.ts';
import { withAssembly } from './offline-assembly.ts';
import { warningLines } from './warning-lines.ts';

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
    const { contract, operations } = await withAssembly(settings, ({ house, planLines }) => ({
      contract: house.contract,
      operations: planLines.length,
    }));
    warningLines(contract.warnings).forEach(io.err);
    const further = contractWords(settings.contract).map((words) => `, ${words}`);
    io.out(`OK: ${settings.file}, ${operations} operations, mode ${settings.mode.name}${further.join('')}`);
    return EXIT.ok;
  },
};
