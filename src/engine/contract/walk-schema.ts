import { escapePointer } from '../../lib/json-pointer.ts';
import { type OpenApiDocument, resolve, type SchemaObject, type SchemaOrBoolean } from './openapi-document.ts';

/** A schema directly inside another one. */
export interface InnerSchema {
  readonly keyword: InnerKeyword;
  /** The name in `properties`, or the index in a list. Undefined for a keyword with a single schema. */
  readonly key: string | number | undefined;
  readonly schema: SchemaOrBoolean;
}

/**
 * The keywords that contain schemas. Those with `same` describe the same value as the schema around them; the others
 * describe a part of it.
 */
const KEYWORDS = {
  properties: { form: 'named', same: false },
  items: { form: 'single', same: false },
  additionalProperties: { form: 'single', same: false },
  allOf: { form: 'list', same: true },
  anyOf: { form: 'list', same: true },
  oneOf: { form: 'list', same: true },
  not: { form: 'single', same: true },
} as const;

export type InnerKeyword = keyof typeof KEYWORDS;

type Named = Readonly<Record<string, SchemaOrBoolean>>;

const ENTRIES = Object.entries(KEYWORDS) as [InnerKeyword, (typeof KEYWORDS)[InnerKeyword]][];

/** Returns the schemas directly inside a schema. References are not followed. */
export function innerSchemas(schema: SchemaOrBoolean): readonly InnerSchema[] {
  if (typeof schema === 'boolean') return [];
  return ENTRIES.flatMap(([keyword, { form }]): InnerSchema[] => {
    const value = schema[keyword];
    if (value === undefined) return [];
    if (form === 'single') return [{ keyword, key: undefined, schema: value as SchemaOrBoolean }];
    if (form === 'list')
      return (value as readonly SchemaOrBoolean[]).map((one, key) => ({ keyword, key, schema: one }));
    return Object.entries(value as Named).map(([key, one]) => ({ keyword, key, schema: one }));
  });
}

/** Returns whether an inner schema describes the same value as the schema around it, rather than a part of it. */
export const describesSameValue = ({ keyword }: InnerSchema): boolean => KEYWORDS[keyword].same;

/** Returns whether an inner schema is part of a combination, so what it describes can be true of the value. */
export const isCombined = (inner: InnerSchema): boolean => describesSameValue(inner) && inner.keyword !== 'not';

/** Returns the JSON pointer of an inner schema, relative to the schema around it. */
export function innerPointer({ keyword, key }: Pick<InnerSchema, 'keyword' | 'key'>): string {
  return key === undefined ? `/${keyword}` : `/${keyword}/${escapePointer(String(key))}`;
}

/** Returns a copy of a schema in which each inner schema is replaced. The order of the keywords stays the same. */
export function mapInner(
  schema: SchemaObject,
  replace: (inner: InnerSchema) => SchemaOrBoolean,
): Record<string, unknown> {
  const copy: Record<string, unknown> = { ...schema };
  for (const [keyword, { form }] of ENTRIES) {
    const value = schema[keyword];
    if (value === undefined) continue;
    const replaced = (key: string | number | undefined, one: unknown) =>
      replace({ keyword, key, schema: one as SchemaOrBoolean });
    if (form === 'single') copy[keyword] = replaced(undefined, value);
    else if (form === 'list') copy[keyword] = (value as readonly unknown[]).map((one, key) => replaced(key, one));
    else
      copy[keyword] = Object.fromEntries(
        Object.entries(value).map(([name, one]) => [name, replaced(name, one)] as const),
      );
  }
  return copy;
}

/** Called for a schema with its JSON pointer. If it returns false, the schemas inside it are not visited. */
type SchemaVisitor = (schema: SchemaObject, pointer: string) => boolean | void;

/** Calls `visitor` for a schema, which has the given JSON pointer, and for the schemas inside it. References are not followed. */
export function visitSchemas(schema: SchemaOrBoolean, visitor: SchemaVisitor, pointer = ''): void {
  if (typeof schema === 'boolean' || visitor(schema, pointer) === false) return;
  for (const inner of innerSchemas(schema)) visitSchemas(inner.schema, visitor, pointer + innerPointer(inner));
}

/** Calls `visitor` for each schema in a document, and for the schemas inside it unless it returns false. */
export function visitDocument(document: OpenApiDocument, visitor: SchemaVisitor): void {
  for (const { schema: found, pointer } of schemasOf(document, '', [])) visitSchemas(found, visitor, pointer);
}

interface FoundSchema {
  readonly schema: SchemaOrBoolean;
  readonly pointer: string;
}

/** Returns the schemas of all resources, and the values of all other `schema` keys except those inside examples. */
function schemasOf(value: unknown, pointer: string, path: readonly string[]): FoundSchema[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, child]: [string, unknown]) => {
    if (key === 'examples' || key === 'example') return [];
    const at = `${pointer}/${escapePointer(key)}`;
    const isResource = path.length === 2 && path[0] === 'components' && path[1] === 'schemas';
    if (isResource || key === 'schema') return [{ schema: child as SchemaOrBoolean, pointer: at }];
    return schemasOf(child, at, [...path, key]);
  });
}

/** Returns a schema and all others that describe the same value: the targets of references, and combined schemas. */
export function schemasOfValue(
  document: OpenApiDocument,
  schema: SchemaOrBoolean,
  seen = new Set<SchemaOrBoolean>(),
): readonly SchemaObject[] {
  if (typeof schema === 'boolean' || seen.has(schema)) return [];
  seen.add(schema);
  const target = schema.$ref === undefined ? [] : [resolve<SchemaObject>(document, 'schemas', schema)];
  const parts = innerSchemas(schema).filter(isCombined);
  return [
    schema,
    ...[...target, ...parts.map((part) => part.schema)].flatMap((one) => schemasOfValue(document, one, seen)),
  ];
}
