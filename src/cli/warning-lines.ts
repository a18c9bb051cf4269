import type { Fault } from '../model/fault.ts';

/** What is odd and no reason not to start, one line each. */
export function warningLines(warnings: readonly Fault[]): string[] {
  return warnings.map(({ source, pointer, message }) => `warning: ${source} ${pointer}: ${message}`);
}
