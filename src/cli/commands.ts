import type { CommandEntry } from './command.ts';
import { keepNurserySmall } from './small-nursery.ts';

/** Every command, in the order of help; a gateway that runs has read none but its own. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'serve',
    load: async () => {
      keepNurserySmall();
      return (await import('./serve-command.ts')).serveCommand;
    },
  },
  { name: 'check', load: async () => (await import('./check-command.ts')).checkCommand },
  { name: 'report', load: async () => (await import('./report-command.ts')).reportCommand },
  { name: 'plan', load: async () => (await import('./plan-command.ts')).planCommand },
  { name: 'permissions', load: async () => (await import('./permissions-command.ts')).permissionsCommand },
  { name: 'explain', load: async () => (await import('./explain-command.ts')).explainCommand },
  { name: 'learn', load: async () => (await import('./learn-command.ts')).learnCommand },
  { name: 'ladder', load: async () => (await import('./ladder-command.ts')).ladderCommand },
  { name: 'reference', load: async () => (await import('./reference-command.ts')).referenceCommand },
  { name: 'hash-password', load: async () => (await import('./hash-password-command.ts')).hashPasswordCommand },
];
