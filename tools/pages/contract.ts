import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { contractFolder } from '../../src/engine/contract/contract-files.ts';
import { isPlainObject } from '../../src/lib/plain-object.ts';
import { loadContract } from '../../src/engine/contract/load-contract.ts';
import { CONTRACT_DEFAULTS } from '../../src/portico-settings.ts';
import { PROFILE } from '../../src/profile/profile.ts';
import { code, table, withLinks } from './markdown.ts';

const { operations } = loadContract(CONTRACT_DEFAULTS);

const INFERRED = '—';

/** Returns a table of all operations of the contract. */
export function operationList(): string {
  return table(
    ['number', 'operation id', 'request', 'purpose'],
    operations.map(({ row, id, method, path, summary }) => [
      String(row ?? INFERRED),
      code(id),
      code(`${method} ${path}`),
      summary,
    ]),
  );
}

/** Returns a table of the rules about responses, with the operations that name them. */
export const semanticRules = (): string =>
  ruleTable(PROFILE.semanticRules, (name) => operations.filter((one) => one.semanticRules.includes(name)));

/** Returns a table of the rules about request bodies, with the operations that name them. */
export const requestRules = (): string =>
  ruleTable(PROFILE.requestRules, (name) => operations.filter((one) => one.requestRules.includes(name)));

function ruleTable(
  rules: readonly { readonly name: string; readonly description: string }[],
  operationsOf: (name: string) => typeof operations,
): string {
  return table(
    ['rule', 'operations', 'condition'],
    rules.map(({ name, description }) => [code(name), numbers(operationsOf(name)), description]),
  );
}

// The inferred operations have no numbers, so their ids are listed.
function numbers(found: typeof operations): string {
  return found.map(({ row, id }) => (row === undefined ? code(id) : String(row))).join(', ');
}

/** The parts of the document that have extensions, by the definition in the schema for vendor extensions. */
const PARTS = new Map([
  ['', 'the document'],
  ['operation', 'operations'],
  ['parameter', 'parameters'],
  ['response', 'responses'],
  ['content', 'media types'],
  ['field', 'fields and resources'],
]);

/** Returns a table of the vendor extensions, with the parts of the document that can have them. */
export function extensions(): string {
  const schema: unknown = JSON.parse(readFileSync(join(contractFolder(), 'vendor-extensions.schema.json'), 'utf8'));
  const found = extensionsIn(schema, '');
  const rows = [...Map.groupBy(found, ({ name }) => name)].map(([name, places]) => {
    const description = places.find((one) => one.description !== undefined)?.description;
    if (description === undefined) throw new Error(`${name} has no description in its schema`);
    return [code(name), places.map(({ part }) => part).join(', '), withLinks(description)];
  });
  return table(['extension', 'of', 'meaning'], rows);
}

interface Extension {
  readonly name: string;
  readonly part: string;
  readonly description: string | undefined;
}

function extensionsIn(schema: unknown, part: string): Extension[] {
  if (!isPlainObject(schema)) return [];
  const { properties, $defs } = schema;
  const own = Object.entries(isPlainObject(properties) ? properties : {}).flatMap(([name, one]) => {
    const description = isPlainObject(one) ? one['description'] : undefined;
    if (!name.startsWith('x-')) return [];
    return {
      name,
      part: PARTS.get(part) ?? part,
      description: typeof description === 'string' ? description : undefined,
    };
  });
  const below = Object.entries(isPlainObject($defs) ? $defs : {}).flatMap(([name, one]) => extensionsIn(one, name));
  return [...own, ...extensionsIn(schema['additionalProperties'], part), ...below];
}
