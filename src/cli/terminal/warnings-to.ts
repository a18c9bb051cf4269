import type { ProgramIo } from '../program.ts';

/** Creates a log stream for a command. It writes only warnings and errors. */
export function warningsTo(io: Pick<ProgramIo, 'err'>) {
  return {
    write: (text: string): void => {
      const { level, msg, reason } = JSON.parse(text) as Readonly<Record<string, unknown>>;
      if (level === 'warn' || level === 'error' || (typeof level === 'number' && level >= 40))
        io.err(`portico: ${[msg, reason].filter((part) => typeof part === 'string').join(': ')}`);
    },
  };
}
