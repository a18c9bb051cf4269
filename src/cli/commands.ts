import { FEATURES } from '../features.ts';
import type { Command, CommandEntry } from '../lib/command.ts';

/** All commands, in the order shown in the help text. Only the modules for the command being run are imported. */
export const COMMANDS: readonly CommandEntry[] = [
  { name: 'serve', load: async () => (await import('./commands/serve-command.ts')).serveCommand },
  { name: 'reload', load: async () => (await import('./commands/reload-command.ts')).reloadCommand },
  { name: 'check', load: async () => (await import('./commands/check-command.ts')).checkCommand },
  { name: 'audit', load: async () => (await import('./commands/audit-command.ts')).auditCommand },
  { name: 'doctor', load: async () => (await import('./commands/doctor-command.ts')).doctorCommand },
  { name: 'report', load: async () => (await import('./commands/report-command.ts')).reportCommand },
  { name: 'plan', load: async () => (await import('./commands/plan-command.ts')).planCommand },
  { name: 'permissions', load: async () => (await import('./commands/permissions-command.ts')).permissionsCommand },
  { name: 'explain', load: async () => (await import('./commands/explain-command.ts')).explainCommand },
  { name: 'schemas', load: async () => (await import('./commands/schemas-command.ts')).schemasCommand },
  { name: 'learn', load: async () => (await import('./commands/learn-command.ts')).learnCommand },
  ...commandsOfFeatures(),
  { name: 'reference', load: async () => (await import('./commands/reference-command.ts')).referenceCommand },
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

function commandsOfFeatures(): CommandEntry[] {
  return FEATURES.flatMap(({ commands = [] }) =>
    commands.map(({ name, load }) => ({
      name,
      load: async () => load((await import('./tasks/command-tools.ts')).COMMAND_TOOLS),
    })),
  );
}

const loadCommands = (): Promise<Command[]> => Promise.all(COMMANDS.map((entry) => entry.load()));
