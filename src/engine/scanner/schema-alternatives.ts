import { posix } from 'node:path';

/** A JSON Schema. `true` accepts every value, and `false` accepts none. */
export type JsonSchema = boolean | { readonly [keyword: string]: unknown };

/** Schemas, keyed by path. A schema refers to another by its relative path. */
export type SchemasByPath = ReadonlyMap<string, JsonSchema>;

/** A schema, and the path to which its references are relative. */
export interface PlacedSchema {
  readonly schema: JsonSchema;
  readonly path: string;
}

/** A group of schemas, all of which a value must match. Their references and combinations have been resolved. */
export type Together = readonly PlacedSchema[];

/**
 * Thrown for a schema that the scanner cannot check. Responses with this schema are parsed and validated as if there
 * were no scanner.
 */
export class UnsupportedSchema extends Error {
  override readonly name = 'UnsupportedSchema';
}

const MAX_ALTERNATIVES = 16;
const MAX_DEPTH = 32;

/** Returns the alternative ways in which a value can match all of several schemas. Throws if there are too many. */
export function alternativesOfAll(schemas: SchemasByPath, places: readonly PlacedSchema[]): readonly Together[] {
  return places.reduce<readonly Together[]>((all, place) => both(all, alternativesOf(schemas, place)), [[]]);
}

/**
 * Returns the alternative ways in which a value can match a schema. References are followed, and combinations are
 * expanded.
 */
function alternativesOf(schemas: SchemasByPath, place: PlacedSchema, depth = 0): readonly Together[] {
  const { schema, path } = place;
  if (depth > MAX_DEPTH) throw new UnsupportedSchema(`references that do not end, in ${path}`);
  if (typeof schema === 'boolean') return [[place]];
  const inside = (child: JsonSchema) => alternativesOf(schemas, { schema: child, path }, depth + 1);
  let all: readonly Together[] = [[place]];
  const reference = schema['$ref'];
  if (typeof reference === 'string') {
    const target = posix.join(posix.dirname(path), reference);
    const referenced = schemas.get(target);
    if (referenced === undefined) throw new UnsupportedSchema(`the reference ${reference} in ${path}`);
    all = both(all, alternativesOf(schemas, { schema: referenced, path: target }, depth + 1));
  }
  for (const part of schemasIn(schema['allOf'])) all = both(all, inside(part));
  // The alternatives must apply to different kinds of values, so that at most one alternative can match.
  for (const keyword of ['anyOf', 'oneOf'])
    if (schema[keyword] !== undefined) all = both(all, schemasIn(schema[keyword]).flatMap(inside));
  return all;
}

const schemasIn = (value: unknown) => (value ?? []) as readonly JsonSchema[];

function both(left: readonly Together[], right: readonly Together[]): readonly Together[] {
  if (left.length * right.length > MAX_ALTERNATIVES) throw new UnsupportedSchema('many alternatives');
  return left.flatMap((one) => right.map((other) => [...one, ...other]));
}
