import type { CommandIo } from './command-io.ts';
import { EXIT } from './command.ts';

/** Says on standard error why a report fails, in one line, and answers with the exit code. */
export function tellFailures(reasons: readonly string[], io: Pick<CommandIo, 'err'>): number {
  if (reasons.length === 0) return EXIT.ok;
  io.err(`portico: failed: ${reasons.join('; ')}`);
  return EXIT.failed;
}
