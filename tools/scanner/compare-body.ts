import { CONTRACT_DEFAULTS } from '../../src/portico-settings.ts';
import { isDeepStrictEqual } from 'node:util';
import { compileFieldShape } from '../../src/engine/contract/explain/compile-field-shape.ts';
import {
  findUnknownFields,
  findUnmetExpectations,
  unmetExpectationsAt,
} from '../../src/engine/contract/explain/advisories.ts';
import { readDocument } from '../../src/engine/contract/document/read-document.ts';
import { contractFolder, responseFile } from '../../src/engine/contract/contract-files.ts';
import { referencedName } from '../../src/engine/contract/openapi-document.ts';
import { openSchemaStore } from '../../src/engine/contract/compile/schema-store.ts';
import { generateSchemas } from '../../src/engine/contract/generate/generate-schemas.ts';
import { DEFAULT_JSON_LIMITS, type JsonLimits, parseBounded } from '../../src/lib/bounded-json.ts';
import { type ExcerptTree, toExcerptTree } from '../../src/engine/scanner/compile-tables.ts';
import type { SchemasByPath } from '../../src/engine/contract/schema-alternatives.ts';
import { openScanner } from '../../src/engine/scanner/open-scanner.ts';

/**
 * The result of a comparison: the scanner and the parser agree, the scanner cannot prove the body valid, or the
 * scanner is wrong.
 */
export type Comparison = 'both valid' | 'both invalid' | 'closer' | `WRONG: ${string}`;

/** Compares the scanner's result for a body with those of the parser and the validator. */
export type CompareBody = (body: Buffer) => Comparison;

/** Matches the part that every absolute address contains. */
export const ADDRESS = /:\\?\//;

/** The maximum number of undocumented fields to compare. It equals the default of `contract.maxCollected`. */
const MAX_UNKNOWN = 20;

/**
 * Creates the comparison for one schema. If the scanner accepts a body, the parser and the validator must accept it
 * too, with the same excerpt and the same undocumented fields.
 */
export function createCompareBody(
  schemas: SchemasByPath,
  file: string,
  excerpt: readonly string[],
  limits: JsonLimits = DEFAULT_JSON_LIMITS,
): CompareBody {
  const files = schemas as Parameters<typeof openSchemaStore>[0];
  const compiled = openSchemaStore(files).compile(file);
  if (compiled === undefined) throw new Error(`${file} has no validator`);
  const shape = compileFieldShape(files, compiled.file);
  const schema = { schema: schemas.get(file) ?? true, path: file };
  const scanner = openScanner(limits).compile({ schemas, schema, excerpt });
  const tree = toExcerptTree(excerpt);
  // Reports describe values and never quote them, so the scanner's integers may differ from the parser's.
  const unknownIn = (value: unknown) =>
    findUnknownFields(shape, value, MAX_UNKNOWN).map(({ within, at, value: found }) => ({
      within,
      at,
      value: Number.isInteger(found) ? 'integer' : found,
    }));
  return (body) => {
    const scanned = scanner.scan(body);
    const parsed = parseBounded(body, limits);
    const isValid = parsed.state === 'parsed' && compiled.accepts(parsed.value);
    if (scanned === undefined) return isValid ? 'closer' : 'both invalid';
    if (!isValid) return `WRONG: accepts a body that is ${parsed.state === 'parsed' ? 'invalid' : parsed.state}`;
    if (!isDeepStrictEqual(scanned.excerpt, excerptOf(parsed.value, tree))) return 'WRONG: reads another excerpt';
    if (!scanned.hasAddress && ADDRESS.test(body.toString('latin1'))) return 'WRONG: misses an absolute address';
    const found = unknownIn(scanned.differences.undocumented);
    const expected = unknownIn(parsed.value);
    if (!isDeepStrictEqual(found, expected)) return 'WRONG: finds other undocumented fields';
    const recorded = unmetExpectationsAt(shape, scanned.differences.departures);
    return isDeepStrictEqual(recorded, findUnmetExpectations(shape, parsed.value))
      ? 'both valid'
      : 'WRONG: finds other unmet expectations';
  };
}

/** Returns the parts of a parsed body that an excerpt contains. */
function excerptOf(value: unknown, { inside }: ExcerptTree): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const elements = inside.get('*');
  if (Array.isArray(value))
    return value.map((element: unknown) => (elements === undefined ? undefined : excerptOf(element, elements)));
  const members = [...inside].filter(([name]) => name !== '*' && Object.hasOwn(value, name));
  return Object.fromEntries(
    members.map(([name, tree]) => [name, excerptOf((value as Record<string, unknown>)[name], tree)]),
  );
}

/** A success response in the contract, with examples of its bodies. */
export interface ExampleResponse {
  readonly operation: string;
  readonly status: number;
  /** The path of the response's schema. */
  readonly file: string;
  readonly bodies: readonly unknown[];
}

/** Returns the contract's generated schemas and success responses. */
export function readExamples(): { readonly schemas: SchemasByPath; readonly responses: readonly ExampleResponse[] } {
  const { document } = readDocument(contractFolder(), CONTRACT_DEFAULTS);
  const { examples, responses: shared } = document.components;
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const responses = operations.flatMap(({ operationId: operation, responses: own }) =>
    Object.entries(own).flatMap(([status, place]): ExampleResponse[] => {
      if (!status.startsWith('2')) return [];
      const response = '$ref' in place ? shared[referencedName(place.$ref)] : place;
      const all = Object.values(response?.content['application/json']?.examples ?? {});
      const bodies = all.map((one) => ('$ref' in one ? examples[referencedName(one.$ref)]?.value : one.value));
      return [{ operation, status: Number(status), file: responseFile(operation, status, 'full'), bodies }];
    }),
  );
  return { schemas: generateSchemas(document), responses };
}
