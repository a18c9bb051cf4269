import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type Document, isNode, LineCounter, parseDocument } from 'yaml';
import { boundedMemo } from '../../lib/bounded-maps.ts';
import { escapePointer, keysOf, pointerTo, valueAt } from '../../lib/json-pointer.ts';
import type { LedgerEntry } from '../model/ledger-entry.ts';
import type { Operation } from '../model/operation.ts';
import { bundlePlace, contractFolder, resourceFile } from './contract-files.ts';
import { placeOfSchema } from './generate/generate-schemas.ts';
import type { OpenApiDocument } from './openapi-document.ts';

/** The location of a violated statement in the contract. */
export interface ContractPlace {
  /** The path of the file, relative to the checkout or the working directory. */
  readonly file: string;
  /** A JSON pointer. Empty for the whole file. */
  readonly pointer: string;
  /** The line number, starting at 1. Undefined if the file could not be read. */
  readonly line: number | undefined;
  /** The schema in `openapi.yaml` that contains the location, and the overlay target that selects this schema. */
  readonly schema: { readonly target: string; readonly value: Readonly<Record<string, unknown>> } | undefined;
}

interface ReadFile {
  readonly document: Document;
  readonly lines: LineCounter;
}

const OPENAPI = 'openapi.yaml';

/** Creates a function that returns a ledger entry's location in the contract, including the current line number. */
export function createContractPlaces(
  folder: string | undefined,
  operations: readonly Operation[],
  cwd: string,
): (entry: LedgerEntry) => ContractPlace {
  const root = folder ?? contractFolder();
  const shown = folder === undefined ? 'schemas' : relative(cwd, folder);
  const files = new Map<string, ReadFile | undefined>();
  const read = (file: string): ReadFile | undefined => {
    const path = join(root, file);
    const parse = file === OPENAPI ? parseContract : parseYaml;
    if (!files.has(file)) files.set(file, existsSync(path) ? parse(readFileSync(path, 'utf8')) : undefined);
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
      // Extensions such as `x-expected` occur only in the OpenAPI document, so a location in that document is returned.
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

/** Returns the location in `openapi.yaml` from which a location in a generated schema file was derived. */
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

function parseYaml(text: string): ReadFile {
  const lines = new LineCounter();
  return { document: parseDocument(text, { lineCounter: lines }), lines };
}

/**
 * Parses the contract document and remembers the latest result. Parsing takes a quarter of a second, during which the
 * gateway serves no requests, and a reload rarely changes the document.
 */
const parseContract = boundedMemo(1, parseYaml);

/** Returns the offset of the value at a pointer or, if that value does not exist, of its closest existing ancestor. */
function offsetAt(document: Document, pointer: string): number | undefined {
  for (let keys = keysOf(pointer); ; keys = keys.slice(0, -1)) {
    const node = document.getIn(keys, true);
    if (isNode(node) && node.range) return node.range[0];
    if (keys.length === 0) return undefined;
  }
}
