import type { CompiledGateway } from '../../engine/pipeline/compiled-gateway.ts';
import { EXIT } from '../../lib/command.ts';
import type { ProgramCommand } from '../program.ts';
import { FORMAT_FLAG, wantsJson } from '../command-output.ts';
import { jsonDocument } from '../../lib/json-document.ts';
import { CONFIG_FLAGS, settingsFrom, withAssembly } from '../flags/config-flags.ts';
import { contractWords, warningLines } from '../terminal/banner.ts';

/**
 * The `portico plan` command prints one line for each operation, showing its stages, and one line for undocumented
 * paths.
 */
export const planCommand: ProgramCommand = {
  name: 'plan',
  summary: 'Print the stages of each operation',
  args: '',
  argCount: [0, 0],
  flags: [...CONFIG_FLAGS, FORMAT_FLAG],
  notes: [],
  run: async (line, io) => {
    const json = wantsJson(line);
    const settings = await settingsFrom(line, io);
    await withAssembly(settings, ({ warnings, planLines, gateway }) => {
      warningLines(warnings).forEach(io.err);
      for (const words of contractWords(settings)) io.err(`contract: ${words}`);
      if (json) io.out(planJson(gateway));
      else planLines.forEach(io.out);
    });
    return EXIT.ok;
  },
};

function planJson({ plans, undocumented }: Pick<CompiledGateway, 'plans' | 'undocumented'>): string {
  const operations = [...plans.values()].map(({ operation, checks, errors, stages, changes = [] }) => ({
    operation: operation.id,
    method: operation.method,
    path: operation.path,
    checks,
    errors,
    stages,
    moved: changes.flatMap(({ decidedBy, words }) => (decidedBy === 'ladder' ? [words] : [])),
    overrides: changes.flatMap(({ decidedBy, words }) => (decidedBy === 'override' ? [words] : [])),
  }));
  return jsonDocument('plan', { operations, undocumented: { stages: undocumented.stages } });
}
