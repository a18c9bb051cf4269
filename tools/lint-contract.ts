import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isCollection, parse, parseDocument, visit } from 'yaml';
import { contractFolder } from '../src/engine/contract/contract-files.ts';
import { parseSource, readSource } from '../src/engine/contract/document/read-document.ts';
import { escapePointer } from '../src/lib/json-pointer.ts';
import { StartFault } from '../src/engine/model/fault.ts';
import { readCommandLine } from './command-line.ts';

const HELP = `Lints schemas/openapi.yaml with Redocly's recommended rules and those rules of Spectral's "oas" ruleset
that Redocly does not have. Checks the vendor extensions against schemas/vendor-extensions.schema.json, and that a YAML
1.1 reader reads the same document. Exits with 1 if there are errors; warnings are printed.

Usage: node tools/lint-contract.ts [FLAGS]

  --folder FOLDER      The folder of another contract.
  --help               Show this help.`;

/** Rules of Spectral that Redocly also has, but not in its recommended set (docs/adr/0018-overlays.md). */
const SPECTRAL_RULES = { 'info-contact': 'error', 'operation-description': 'error' } as const;

/** Checks the contract in a folder, prints the result and returns the exit code. */
export async function runLinter(folder = contractFolder()): Promise<number> {
  const { errors, warnings } = await lintContract(folder);
  for (const line of [...errors, ...warnings]) console.error(line);
  console.log(
    `schemas/openapi.yaml: vendor extensions and recommended OpenAPI rules, ${errors.length} errors, ${warnings.length} warnings`,
  );
  return errors.length === 0 ? 0 : 1;
}

/** Runs all checks on the contract in a folder. Returns one line for each error and each warning. */
export async function lintContract(
  folder: string,
): Promise<{ readonly errors: readonly string[]; readonly warnings: readonly string[] }> {
  // The linter takes half a second to load, and is not needed for the help text.
  const { createConfig, lint } = await import('@redocly/openapi-core');
  const text = readFileSync(join(folder, 'openapi.yaml'), 'utf8');
  const faults = [...extensionFaults(folder), ...arrayFaults(parse(text)), ...yamlFaults(text)];
  const config = await createConfig({ extends: ['recommended'], rules: SPECTRAL_RULES });
  const problems = await lint({ ref: join(folder, 'openapi.yaml'), config });
  const linesOf = (isError: boolean) =>
    problems
      .filter(({ severity }) => (severity === 'error') === isError)
      .map(
        ({ severity, ruleId, message, location }) =>
          `${severity.padEnd(8)} ${ruleId} ${location[0]?.pointer ?? ''}: ${message}`,
      );
  return { errors: [...faults.map((fault) => `error    ${fault}`), ...linesOf(true)], warnings: linesOf(false) };
}

function extensionFaults(folder: string): string[] {
  try {
    parseSource(readSource(folder));
    return [];
  } catch (error) {
    if (!(error instanceof StartFault)) throw error;
    return error.faults.map(
      ({ pointer, message, suggestion }) =>
        `extensions ${pointer}: ${message}${suggestion ? `; did you mean ${suggestion}?` : ''}`,
    );
  }
}

/** Returns the schemas of type `array` without `items`, which Spectral's `array-items` rule reports. */
function arrayFaults(value: unknown, pointer = ''): string[] {
  if (typeof value !== 'object' || value === null || /\/examples?$/.test(pointer)) return [];
  const own = 'type' in value && value.type === 'array' && !('items' in value);
  return [
    ...(own ? [`array-items ${pointer}: a schema with the type array needs items`] : []),
    ...Object.entries(value).flatMap(([key, child]) => arrayFaults(child, `${pointer}/${escapePointer(key)}`)),
  ];
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !(value instanceof Date);

/** Matches the characters at which a YAML 1.1 reader may end unquoted text inside brackets or braces. */
const ENDS_IN_FLOW = /[?,[\]{}]/;

/**
 * Returns the values that YAML 1.1 readers reject or read differently: dates, words such as `on` and `no`, and question
 * marks inside braces.
 */
function yamlFaults(text: string): string[] {
  const faults: string[] = [];
  const older = parseDocument(text, { version: '1.1' });
  const document = parseDocument(text);
  const compare = (one: unknown, other: unknown, pointer: string): void => {
    if (isDeepStrictEqual(one, other)) return;
    if (isObject(one) && isObject(other) && Object.keys(one).every((key) => key in other))
      for (const key of Object.keys(one)) compare(one[key], other[key], `${pointer}/${escapePointer(key)}`);
    else faults.push(`yaml ${pointer}: a YAML 1.1 reader reads another value; quote it`);
  };
  compare(document.toJS(), older.toJS(), '');
  visit(document, {
    Scalar: (_key, { value, type, range }, path) => {
      const isInFlow = path.some((node) => isCollection(node) && node.flow === true);
      if (isInFlow && type === 'PLAIN' && typeof value === 'string' && ENDS_IN_FLOW.test(value))
        faults.push(
          `yaml line ${text.slice(0, range?.[0]).split('\n').length}: quote the text inside brackets or braces`,
        );
    },
  });
  return faults;
}

if (import.meta.main) {
  const { values } = readCommandLine(HELP, { folder: { type: 'string' } });
  process.exitCode = await runLinter(values.folder);
}
