import { describe, it } from 'vitest';
import { findProgram, type ProgramName } from './find-program.ts';

/**
 * Defines a suite that runs a system program. If the program is missing, the suite reports how to install it and is
 * skipped. If CI is true or PORTICO_REQUIRE_PROGRAMS is 1, as in `.ci/run`, the suite fails instead.
 */
export function needsProgram(name: ProgramName, title: string, suite: (path: string) => void): void {
  const found = findProgram(name);
  if (found.path !== undefined) {
    const { path } = found;
    describe(title, () => suite(path));
    return;
  }
  const { advice, required } = found;
  if (required) {
    it(`${title}. ${advice}`, () => {
      throw new Error(advice);
    });
    return;
  }
  process.stderr.write(`skipped: ${title}. ${advice}\n`);
  it.skip(`${title}. ${advice}`);
}
