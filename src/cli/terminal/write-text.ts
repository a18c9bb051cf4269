import { writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { packageVersion } from '../../files/package-root.ts';
import { makeFolder } from '../../files/replace-file.ts';
import { StartFault } from '../../model/fault.ts';
import type { RenderOptions } from '../../report/render-options.ts';
import type { CommandIo } from '../command.ts';
import type { CommandLine } from '../command.ts';

const COLUMNS = 100;

/** The file that a result goes to; undefined for standard output, which `-` is too. */
export function outputFile(line: CommandLine): string | undefined {
  const output = line.last('output');
  return output === '-' ? undefined : output;
}

/** How a report is to look where it goes: colours are for terminals only. */
export function renderOptions(line: CommandLine, { terminal }: Pick<CommandIo, 'terminal'>): RenderOptions {
  const shown = outputFile(line) === undefined ? terminal : undefined;
  return { version: packageVersion(), columns: shown?.columns ?? COLUMNS, colours: shown?.colours ?? false };
}

/** Writes a result to the file of `--output`, or to standard output; throws StartFault when the file cannot be written. */
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
