import { writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { packageVersion } from '../lib/package-root.ts';
import { fileReason } from '../lib/file-reason.ts';
import { makeFolder } from '../lib/replace-file.ts';
import { StartFault } from '../engine/model/fault.ts';
import type { RenderOptions } from '../workbench/report/report.ts';
import type { CommandIo, CommandLine, Flag } from '../lib/command.ts';
import { choiceFlag } from '../lib/flag-values.ts';

const FORMATS = ['text', 'json'];

/** The flag for commands that can write their result as JSON. `docs/cli.schema.json` describes the JSON documents. */
export const FORMAT_FLAG: Flag = {
  name: 'format',
  value: 'FORMAT',
  choices: FORMATS,
  help: 'text or json; text by default. docs/cli.schema.json describes the JSON.',
};

/** Returns whether JSON is requested. Throws a UsageError if the format is unknown. */
export function wantsJson(line: CommandLine): boolean {
  return choiceFlag(line, 'format', FORMATS) === 'json';
}

/** The width, in columns, of output that is not written to a terminal. */
const COLUMNS = 100;

/** Returns the file specified by `--output`, or undefined for standard output, which can also be specified as `-`. */
export function outputFile(line: CommandLine): string | undefined {
  const output = line.last('output');
  return output === '-' ? undefined : output;
}

/** Returns the options for rendering the output. Colors are used only on a terminal. */
export function renderOptions(line: CommandLine, { terminal }: Pick<CommandIo, 'terminal'>): RenderOptions {
  const shownOn = outputFile(line) === undefined ? terminal : undefined;
  const ledger = line.last('ledger');
  return {
    version: packageVersion(),
    columns: shownOn?.columns ?? COLUMNS,
    colors: shownOn?.colors ?? false,
    ...(ledger !== undefined && { ledger }),
  };
}

/**
 * Writes a result to the file specified by `--output`, or to standard output. Throws a StartFault if the file cannot be
 * written.
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
    const suggestion = 'name a file in a folder that you may write to';
    const message = `${output} cannot be written: ${fileReason(error)}`;
    throw new StartFault([{ source: '--output', pointer: '', message, suggestion }]);
  }
  io.err(`Written to ${output}`);
}
