import { posix } from 'node:path';
import { escapePointer } from '../../../lib/json-pointer.ts';
import type { Fault } from '../../model/fault.ts';
import {
  parametersFile,
  requestFile,
  resourceFile,
  responseFile,
  type ResponseVariant,
  SCHEMA_BASE,
  CONTRACT_SOURCE,
  bundlePlace,
} from '../contract-files.ts';
import {
  type OpenApiDocument,
  type OperationObject,
  type ParameterObject,
  referencedName,
  resolve,
  type ResponseObject,
  type SchemaObject,
  type SchemaOrBoolean,
} from '../openapi-document.ts';
import { describesSameValue, mapInner, visitSchemas } from '../walk-schema.ts';

/** The generated schemas, keyed by their path relative to the schema folder. */
export type SchemaFiles = ReadonlyMap<string, SchemaObject>;

/** Generates all schemas in a document, keyed by the path in each schema's `$id`. */
export function generateSchemas(document: OpenApiDocument): Map<string, SchemaObject> {
  const files = new Map<string, SchemaObject>();
  const resources = document.components.schemas;
  const projectable = projectableResources(resources);
  const projectedInUse = new Set<string>();

  const add = (file: string, title: string, schema: SchemaOrBoolean, projected: boolean) => {
    const writeReference = (reference: string) => {
      const name = referencedName(reference);
      const target = resourceFile(name, projected && projectable.has(name));
      return posix.relative(posix.dirname(file), target);
    };
    const shape = projected ? projectSchema(schema) : schema;
    if (projected) for (const name of referencesOf(shape)) if (projectable.has(name)) projectedInUse.add(name);
    const plain = stripSchema(shape, writeReference);
    const head = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: SCHEMA_BASE + file,
      title,
    };
    files.set(file, { ...head, ...(plain === true ? {} : (plain as SchemaObject)) });
  };

  for (const [name, schema] of Object.entries(resources)) add(resourceFile(name), name, schema, false);
  for (const operation of operationsOf(document)) {
    const id = operation.operationId;
    const parameters = (operation.parameters ?? []).map((place) =>
      resolve<ParameterObject>(document, 'parameters', place),
    );
    add(parametersFile(id), `Parameters of ${id}`, parametersSchema(parameters), false);
    const body = operation.requestBody?.content['application/json'];
    if (body) add(requestFile(id), `Request body of ${id}`, body.schema, false);
    const projects = parameters.some((parameter) => parameter.name === 'includeOnly');
    for (const [status, place] of Object.entries(operation.responses)) {
      const media = resolve<ResponseObject>(document, 'responses', place).content['application/json'];
      if (!media) continue;
      const variants = media['x-variants'];
      const full = variants ? { $ref: variants.full } : media.schema;
      const put = (variant: ResponseVariant, schema: SchemaOrBoolean) =>
        add(
          responseFile(id, status, variant),
          `Response ${status} of ${id}, ${variant}`,
          schema,
          variant === 'projected',
        );
      put('full', full);
      if (projects && status.startsWith('2')) put('projected', full);
      if (variants) put('open', { $ref: variants.open });
    }
  }
  for (const name of projectedInUse) add(resourceFile(name, true), `${name}, projected`, resources[name] ?? true, true);
  return new Map([...files].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function operationsOf(document: OpenApiDocument): OperationObject[] {
  return Object.values(document.paths).flatMap((methods) => Object.values(methods));
}

/**
 * Returns a schema for the typed parameter values, grouped by location. If a query parameter can be repeated, its value
 * is an array.
 */
function parametersSchema(parameters: readonly ParameterObject[]): SchemaOrBoolean {
  const at = (location: 'path' | 'query') => parameters.filter((parameter) => parameter.in === location);
  return {
    type: 'object',
    required: ['path', 'query'],
    properties: {
      path: { ...locationSchema(at('path')), required: at('path').map((parameter) => parameter.name) },
      query: locationSchema(at('query')),
    },
  };
}

function locationSchema(found: readonly ParameterObject[]) {
  const properties = Object.fromEntries(found.map((parameter) => [parameter.name, typedSchema(parameter)]));
  return { type: 'object', properties };
}

function typedSchema(parameter: ParameterObject): SchemaOrBoolean {
  const repeats = parameter.in === 'query' && !parameter['x-single'];
  return repeats ? { type: 'array', items: parameter.schema } : parameter.schema;
}

/** Rewrites a reference to a resource so that it is valid in the generated file. */
type WriteReference = (reference: string) => string;

const STRIPPED = new Set(['example', 'examples', 'format', 'externalDocs', 'xml', 'discriminator']);

/** The extensions in the generated schemas that state what is expected of a value but not required. */
export const EXPECTATIONS: readonly string[] = [
  'x-expected',
  'x-expected-type',
  'x-expected-pattern',
  'x-expected-enum',
  'x-expected-minimum',
  'x-expected-maximum',
];

const isKept = ([keyword]: readonly [string, unknown]): boolean =>
  !STRIPPED.has(keyword) && (!keyword.startsWith('x-') || EXPECTATIONS.includes(keyword));

/** Converts a schema from the document to JSON Schema without examples, formats and most extensions. */
export function stripSchema(schema: SchemaOrBoolean, writeReference: WriteReference): SchemaOrBoolean {
  // The schema `false` becomes an object because an Ajv error can be traced back to an object but not to a boolean.
  if (typeof schema === 'boolean') return schema || { not: {} };
  // If `additionalProperties` is `false`, it is not replaced, because the violation names the field.
  const mapped = mapInner(schema, ({ keyword, schema: inner }) =>
    keyword === 'additionalProperties' && inner === false ? inner : stripSchema(inner, writeReference),
  );
  const plain: Record<string, unknown> = Object.fromEntries(Object.entries(mapped).filter(isKept));
  // A format describes values without restricting them. `int64` is the only one whose values a double can tell apart,
  // so numbers outside its range are reported. The bounds are as precise as a double allows.
  if (schema.format === 'int64') {
    plain['x-expected-minimum'] ??= -(2 ** 63);
    plain['x-expected-maximum'] ??= 2 ** 63;
  }
  if (schema.$ref !== undefined) plain['$ref'] = writeReference(schema.$ref);
  return plain;
}

/**
 * Returns the schema for a response that contains only selected fields. The envelope is unchanged, but no field inside
 * an item is required or expected.
 */
export function projectSchema(schema: SchemaOrBoolean, inEnvelope = false): SchemaOrBoolean {
  if (typeof schema === 'boolean') return schema;
  const envelope = inEnvelope || schema['x-envelope'] === true;
  const projected = mapInner(schema, (inner) =>
    inner.keyword === 'not' ? inner.schema : projectSchema(inner.schema, envelope && describesSameValue(inner)),
  );
  if (!envelope) {
    delete projected['required'];
    delete projected['x-expected'];
    delete projected['minProperties'];
  }
  if (schema.oneOf) {
    // With fewer required fields, a value can match more than one alternative, so `oneOf` becomes `anyOf`.
    const choice = { anyOf: projected['oneOf'] as readonly SchemaOrBoolean[] };
    delete projected['oneOf'];
    projected['allOf'] = [...((projected['allOf'] as SchemaOrBoolean[] | undefined) ?? []), choice];
  }
  return projected;
}

/** Returns the names of the resources that a schema refers to directly. */
function referencesOf(schema: SchemaOrBoolean): string[] {
  const names: string[] = [];
  visitSchemas(schema, ({ $ref }) => {
    if ($ref !== undefined) names.push(referencedName($ref));
  });
  return names;
}

/**
 * Returns the names of the resources whose projected schema differs from the full schema, either directly or through a
 * reference.
 */
function projectableResources(schemas: Readonly<Record<string, SchemaObject>>): Set<string> {
  const names = Object.keys(schemas);
  const differs = new Set(
    names.filter((name) => JSON.stringify(projectSchema(schemas[name] ?? true)) !== JSON.stringify(schemas[name])),
  );
  for (let before = -1; before !== differs.size;) {
    before = differs.size;
    for (const name of names)
      if (referencesOf(schemas[name] ?? true).some((child) => differs.has(child))) differs.add(name);
  }
  return differs;
}

// Matches the end of an Ajv message about an invalid schema, which names the location and the violated Ajv rule.
const WHERE = new RegExp(` at "${RegExp.escape(SCHEMA_BASE)}([^"#]+)#?([^"]*)"(?: \\(\\w+\\))?$`);

/** Converts an error in a generated schema, which may exist only in memory, to an error in the document. */
export function toDocumentFault(document: OpenApiDocument, { source, message }: Fault): Fault {
  const [, file = source.replace(/^schemas\//, ''), inside = ''] = WHERE.exec(message) ?? [];
  const place = placeOfSchema(document, file);
  return {
    source: CONTRACT_SOURCE,
    // A resource's schema has the same structure as in the document. An operation's schema is assembled from several
    // parts of the document, so the pointer can refer only to the operation.
    pointer: file.startsWith('resources/') ? `${place}${inside}` : place,
    message: message.replace(WHERE, '').replace(/^strict mode: /, ''),
  };
}

/**
 * Returns a JSON pointer to the part of the document from which a schema is generated, or an empty string if that part
 * is unknown.
 */
export function placeOfSchema(
  { components, paths }: Pick<OpenApiDocument, 'components' | 'paths'>,
  file: string,
): string {
  const [kind, id] = file.split('/');
  if (kind === 'resources') {
    const name = Object.keys(components.schemas).find((one) =>
      [resourceFile(one), resourceFile(one, true)].includes(file),
    );
    return name === undefined ? '' : `/components/schemas/${escapePointer(name)}`;
  }
  for (const [path, methods] of Object.entries(paths))
    for (const [method, { operationId }] of Object.entries(methods))
      if (operationId === id) return `/paths/${escapePointer(path)}/${method}`;
  return '';
}

const placesByFiles = new WeakMap<SchemaFiles, ReadonlyMap<unknown, string>>();

/** Returns the location of each schema as a file and a JSON pointer into it. */
export function placesIn(files: SchemaFiles): ReadonlyMap<unknown, string> {
  const known = placesByFiles.get(files);
  if (known !== undefined) return known;
  const places = new Map<unknown, string>();
  const visit = (value: unknown, place: string): void => {
    if (typeof value !== 'object' || value === null) return;
    places.set(value, place);
    for (const [key, child] of Object.entries(value)) visit(child, `${place}/${escapePointer(key)}`);
  };
  for (const [file, schema] of files) visit(schema, `${file}#`);
  placesByFiles.set(files, places);
  return places;
}

/** The beginning of the comment in each generated file. */
export const GENERATED = 'Generated from openapi.yaml by ';

/**
 * Combines the generated schemas into files for human readers: one file per resource and one per operation. Each file
 * is a compound document (JSON Schema 2020-12, section 9.3): every schema in `$defs` has its own `$id`, and its
 * references are relative to that `$id`. The files contain only standard JSON Schema keywords, so strict validators
 * accept them. Returns the files' contents in a fixed order, keyed by path relative to the schema folder.
 */
export function bundleSchemas(schemas: ReadonlyMap<string, SchemaObject>): Map<string, string> {
  const bundles = new Map<string, Record<string, unknown>>();
  const placed = [...schemas].map(([path, schema]) => ({ place: bundlePlace(path), schema }));
  // The schema at the root of the file comes before the schemas in `$defs`.
  const ordered = placed.toSorted((a, b) => Number(a.place.name !== undefined) - Number(b.place.name !== undefined));
  for (const { place, schema: generated } of ordered) {
    const { file, name } = place;
    const { $schema, ...schema } = generated;
    const bundle = bundles.get(file) ?? {
      $schema,
      $id: SCHEMA_BASE + file,
      $comment: `${GENERATED}portico schemas; do not edit.`,
    };
    if (name === undefined) Object.assign(bundle, schema);
    else bundle['$defs'] = { ...(bundle['$defs'] as object | undefined), [name]: schema };
    bundles.set(file, bundle);
  }
  const texts = [...bundles].map(([file, bundle]) => [file, `${toText(bundle)}\n`] as const);
  return new Map(texts.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

const toText = (bundle: unknown) =>
  JSON.stringify(bundle, (key, value: unknown) => (EXPECTATIONS.includes(key) ? undefined : value), 2);
