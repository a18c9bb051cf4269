import type { CommandEntry } from '../lib/command.ts';
import { PORTICO } from '../portico-settings.ts';
import type { Program, ProgramCommand, ProgramIo, ProgramProduct } from './program.ts';
import { REFERENCE } from './reference-stand-in.ts';

/** Creates the program that serves a product. Only the modules for the command being run are imported. */
export function createProgram(product: ProgramProduct): Program {
  const loadCommands = (): Promise<ProgramCommand[]> => Promise.all(commands.map((entry) => entry.load()));
  const commands: readonly CommandEntry<ProgramIo>[] = [
    { name: 'serve', load: async () => (await import('./commands/serve-command.ts')).createServeCommand(product) },
    { name: 'reload', load: async () => (await import('./commands/reload-command.ts')).reloadCommand },
    { name: 'check', load: async () => (await import('./commands/check-command.ts')).checkCommand },
    { name: 'compare', load: async () => (await import('./commands/compare-command.ts')).compareCommand },
    { name: 'audit', load: async () => (await import('./commands/audit-command.ts')).auditCommand },
    { name: 'doctor', load: async () => (await import('./commands/doctor-command.ts')).doctorCommand },
    { name: 'report', load: async () => (await import('./commands/report-command.ts')).reportCommand },
    { name: 'plan', load: async () => (await import('./commands/plan-command.ts')).planCommand },
    { name: 'permissions', load: async () => (await import('./commands/permissions-command.ts')).permissionsCommand },
    { name: 'explain', load: async () => (await import('./commands/explain-command.ts')).explainCommand },
    { name: 'schemas', load: async () => (await import('./commands/schemas-command.ts')).schemasCommand },
    { name: 'learn', load: async () => (await import('./commands/learn-command.ts')).learnCommand },
    ...commandsOfFeatures(product),
    ...(product.standIn === undefined ? [] : [product.standIn.command]),
    {
      name: 'hash-password',
      load: async () => (await import('./commands/hash-password-command.ts')).hashPasswordCommand,
    },
    { name: 'init', load: async () => (await import('./commands/init-command.ts')).initCommand },
    {
      name: 'completion',
      load: async () => (await import('./commands/completion-command.ts')).createCompletionCommand(loadCommands),
    },
  ];
  return { product, commands };
}

function commandsOfFeatures(product: ProgramProduct): CommandEntry[] {
  return product.features.flatMap(({ commands = [] }) =>
    commands.map(({ name, load }) => ({
      name,
      load: async () => load((await import('./tasks/command-tools.ts')).createCommandTools(product)),
    })),
  );
}

/** Portico: the gateway for the community Q&A API, with all features and the reference server. */
export const PROGRAM = createProgram({ ...PORTICO, standIn: REFERENCE });

/** The commands of Portico. */
export const COMMANDS = PROGRAM.commands;
