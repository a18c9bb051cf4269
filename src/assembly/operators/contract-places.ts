import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type Document, isNode, LineCounter, parseDocument } from 'yaml';
import { bundlePlace, contractFolder, resourceFile } from '../../contract/contract-files.ts';
import { placeOfSchema } from '../../contract/generate/generate-schemas.ts';
import type { OpenApiDocument } from '../../contract/openapi-document.ts';
import { escapePointer, keysOf, pointerTo, valueAt } from '../../lib/json-pointer.ts';
import type { LedgerEntry } from '../../model/ledger-entry.ts';
import type { Operation } from '../../model/operation.ts';
import type { ContractPlace } from '../../report/report.ts';

interface ReadFile {
  readonly document: Document;
  readonly lines: LineCounter;
}

const OPENAPI = 'openapi.yaml';

/**
 * Creates a function that finds the location in the contract that a ledger entry refers to, with the current line
 * number.
 */
export function createContractPlaces(
  folder: string | undefined,
  operations: readonly Operation[],
  cwd: string,
): (entry: LedgerEntry) => ContractPlace {
  const root = folder ?? contractFolder();
  const shown = folder === undefined ? 'schemas' : relative(cwd, folder);
  const files = new Map<string, ReadFile | undefined>();
  const read = (file: string): ReadFile | undefined => {
    if (!files.has(file)) files.set(file, readYaml(join(root, file)));
    return files.get(file);
  };
  const lineOf = (file: string, pointer: string): number | undefined => {
    const found = read(file);
    const offset = found === undefined ? undefined : offsetAt(found.document, pointer);
    return offset === undefined ? undefined : found?.lines.linePos(offset).line;
  };
  let contract: unknown;
  const value = (): unknown => (contract ??= read(OPENAPI)?.document.toJS() as unknown);

  const inDocument = (pointer: string): ContractPlace => ({
    file: join(shown, OPENAPI),
    pointer,
    line: lineOf(OPENAPI, pointer),
    schema: undefined,
  });

  return (entry) => {
    const [path = '', pointer = ''] = entry.schemaPath.split('#');
    if (/^(?:resources|operations)\/[\w./-]+\.json$/.test(path) && !path.includes('..')) {
      const { file, name } = bundlePlace(path);
      const inFile = name === undefined ? pointer : `/$defs/${name}${pointer}`;
      const generated = read(file);
      const place = () => placeOfSchema(value() as OpenApiDocument, path);
      if (generated === undefined) return inDocument(place());
      const schema = schemaAt(path, pointer, value());
      // The generated schemas lack OpenAPI extensions such as `x-expected`.
      if (path.startsWith('resources/') && !generated.document.hasIn(keysOf(inFile)))
        return { ...inDocument(`${place()}${pointer}`), schema };
      return {
        file: join(shown, file),
        pointer: inFile,
        line: lineOf(file, inFile),
        schema,
      };
    }
    return inDocument(operationPointer(entry, operations, value()));
  };
}

function operationPointer(
  { operation: id, direction, status }: LedgerEntry,
  operations: readonly Operation[],
  contract: unknown,
): string {
  const operation = operations.find((one) => one.id === id);
  if (operation === undefined) return '/paths';
  const at = `/paths/${escapePointer(operation.path)}/${operation.method.toLowerCase()}`;
  if (direction === 'request') return at;
  const response = `${at}/responses/${status ?? 'default'}`;
  return valueAt(contract, response) === undefined ? `${at}/responses` : response;
}

/** Returns the place of the schema in `openapi.yaml` that a place in a generated file comes from. */
function schemaAt(file: string, pointer: string, contract: unknown): ContractPlace['schema'] {
  const schemas = valueAt(contract, '/components/schemas');
  if (typeof schemas !== 'object' || schemas === null) return undefined;
  const name = Object.keys(schemas).find((one) => [resourceFile(one), resourceFile(one, true)].includes(file));
  if (name === undefined) return undefined;
  const keys = ['components', 'schemas', name, ...keysOf(pointer).slice(0, -1)];
  const value = valueAt(contract, pointerTo(keys));
  if (typeof value !== 'object' || value === null || Array.isArray(value) || Object.hasOwn(value, '$ref'))
    return undefined;
  const path = keys.map((key) =>
    /^\d+$/.test(key) ? `[${key}]` : /^[A-Za-z_]\w*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`,
  );
  return { target: `$${path.join('')}`, value: value as Readonly<Record<string, unknown>> };
}

function readYaml(path: string): ReadFile | undefined {
  if (!existsSync(path)) return undefined;
  const lines = new LineCounter();
  return { document: parseDocument(readFileSync(path, 'utf8'), { lineCounter: lines }), lines };
}

/**
 * Returns the offset of the value at a pointer. If the value does not exist, returns the offset of its closest existing
 * ancestor.
 */
function offsetAt(document: Document, pointer: string): number | undefined {
  for (let keys = keysOf(pointer); ; keys = keys.slice(0, -1)) {
    const node = document.getIn(keys, true);
    if (isNode(node) && node.range) return node.range[0];
    if (keys.length === 0) return undefined;
  }
}
