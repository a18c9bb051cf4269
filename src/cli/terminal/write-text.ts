import { writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { packageVersion } from '../../files/package-root.ts';
import { makeFolder } from '../../files/replace-file.ts';
import { StartFault } from '../../model/fault.ts';
import type { RenderOptions } from '../../report/render-options.ts';
import type { CommandIo, CommandLine } from '../command.ts';

const COLUMNS = 100;

/**
 * Returns the file that `--output` specifies, or undefined for standard output. Standard output can also be specified
 * as `-`.
 */
export function outputFile(line: CommandLine): string | undefined {
  const output = line.last('output');
  return output === '-' ? undefined : output;
}

/** Returns the options for rendering the output. Colors are used only on a terminal. */
export function renderOptions(line: CommandLine, { terminal }: Pick<CommandIo, 'terminal'>): RenderOptions {
  const shownOn = outputFile(line) === undefined ? terminal : undefined;
  return { version: packageVersion(), columns: shownOn?.columns ?? COLUMNS, colors: shownOn?.colors ?? false };
}

/**
 * Writes a result to the file that `--output` specifies, or to standard output. Throws a StartFault if the file cannot
 * be written.
 */
export function writeText(text: string, line: CommandLine, io: Pick<CommandIo, 'out' | 'err' | 'cwd'>): void {
  const output = outputFile(line);
  if (output === undefined) {
    io.out(text);
    return;
  }
  try {
    const path = resolve(io.cwd, output);
    makeFolder(dirname(path));
    writeFileSync(path, `${text}\n`);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartFault([{ source: '--output', pointer: '', message: `${output} cannot be written: ${reason}` }]);
  }
  io.err(`Written to ${output}`);
}
