import type { CommandLine, Flag } from '../command.ts';
import { choiceFlag } from './flag-values.ts';

const FORMATS = ['text', 'json'];

/** The flag of commands that can write JSON. `docs/cli.schema.json` describes the JSON documents. */
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

/** The version of the JSON documents, which increases with every incompatible change. */
const VERSION = 1;

/** Formats the result of a command as a JSON document of the given kind. */
export function jsonDocument(kind: string, content: object): string {
  return JSON.stringify({ version: VERSION, kind, ...content }, null, 2);
}
