import { posix } from 'node:path';
import { escapePointer, pointerTo } from '../../lib/json-pointer.ts';
import { plainName } from '../../privacy/client-text.ts';
import type { SchemaObject, SchemaOrBoolean } from '../openapi-document.ts';
import { isType, KEYWORD_GROUPS, KEYWORDS } from './schema-keywords.ts';

/** One thing that a value does not keep to. */
export interface SchemaError {
  readonly keyword: string;
  /** JSON pointer into the value. */
  readonly at: string;
  /** The file and a JSON pointer into it: the schema that holds the keyword. */
  readonly schema: string;
  /** What the keyword asks for. */
  readonly limit: unknown;
}

/** The generated schemas by file, from the folder of schemas. */
export type SchemaFiles = ReadonlyMap<string, SchemaObject>;

/** How much of a value is searched. */
export interface SearchLimits {
  /** How many elements of each array. */
  readonly elements: number;
  /** After how many errors the search ends. */
  readonly errors: number;
  /** True tells only the alternative that a value was meant for, where that is clear; Ajv tells them all. */
  readonly meantOnly?: boolean;
}

interface Search {
  readonly files: SchemaFiles;
  readonly limits: SearchLimits;
  readonly found: SchemaError[];
}

/** A schema and where it stands. */
interface Place {
  readonly schema: SchemaOrBoolean;
  readonly file: string;
  readonly pointer: string;
}

/**
 * Searches a value for what is wrong with it, in the order in which Ajv tells it. Keywords that the generator never writes
 * tell nothing: Ajv decides whether a value is right, this only says why not.
 */
export function findErrors(files: SchemaFiles, file: string, value: unknown, limits: SearchLimits): SchemaError[] {
  const found: SchemaError[] = [];
  search({ files, limits, found }, { schema: files.get(file) ?? true, file, pointer: '' }, value, '');
  return found.slice(0, limits.errors);
}

function search(all: Search, place: Place, value: unknown, at: string): void {
  const { schema } = place;
  if (typeof schema === 'boolean' || all.found.length >= all.limits.errors) return;
  const types = schema.type === undefined ? [] : [schema.type].flat();
  const [only] = types;
  // A type with keywords of its own is told where those would be.
  const later = types.length === 1 && KEYWORD_GROUPS.some(({ type, names }) => type === only && holds(schema, names));
  const wrong = types.length > 0 && !types.some((type) => isType(type, value));
  if (wrong && !later) tell(all, place, 'type', at);
  for (const group of KEYWORD_GROUPS) {
    if (!holds(schema, group.names)) continue;
    if (group.type === undefined || isType(group.type, value))
      for (const name of group.names) if (Object.hasOwn(schema, name)) apply(all, place, name, value, at);
    if (wrong && later && group.type === only) tell(all, place, 'type', at);
  }
}

const holds = (schema: SchemaObject, names: readonly string[]) => names.some((name) => Object.hasOwn(schema, name));

function tell(all: Search, { schema, file, pointer }: Place, keyword: string, at: string, limit?: unknown): void {
  const asked = typeof schema === 'boolean' ? undefined : schema[keyword];
  all.found.push({ keyword, at, schema: `${file}#${pointer}`, limit: limit ?? asked });
}

function apply(all: Search, place: Place, keyword: string, value: unknown, at: string): void {
  const schema = place.schema as SchemaObject;
  const below = (child: SchemaOrBoolean, ...keys: readonly (string | number)[]): Place => ({
    schema: child,
    file: place.file,
    pointer: `${place.pointer}/${keyword}${pointerTo(keys)}`,
  });
  switch (keyword) {
    case '$ref': {
      const file = posix.join(posix.dirname(place.file), schema.$ref ?? '');
      return search(all, { schema: all.files.get(file) ?? true, file, pointer: '' }, value, at);
    }
    case 'allOf':
      return schema.allOf?.forEach((part, index) => search(all, below(part, index), value, at));
    case 'anyOf': {
      const branches = (schema.anyOf ?? []).map((part, index) => errorsOf(all, below(part, index), value, at));
      if (branches.some((errors) => errors.length === 0)) return;
      const meant = all.limits.meantOnly === true ? meantBranch(branches, at) : undefined;
      all.found.push(...(meant ?? branches.flat()));
      return meant === undefined ? tell(all, place, keyword, at) : undefined;
    }
    case 'oneOf': {
      const fitting = (schema.oneOf ?? []).filter(
        (part, index) => errorsOf(all, below(part, index), value, at).length === 0,
      );
      return fitting.length === 1 ? undefined : tell(all, place, keyword, at);
    }
    case 'not':
      if (errorsOf(all, below(schema.not ?? true), value, at).length === 0) tell(all, place, keyword, at);
      return;
    case 'required':
      for (const name of schema.required ?? [])
        if (!Object.hasOwn(value as object, name)) tell(all, place, keyword, `${at}/${escapePointer(name)}`, name);
      return;
    case 'additionalProperties':
      return searchBeyond(all, below(schema.additionalProperties ?? true), place, value as object, at);
    case 'properties': {
      const members = value as Readonly<Record<string, unknown>>;
      for (const [name, child] of Object.entries(schema.properties ?? {}))
        if (Object.hasOwn(members, name))
          search(all, below(child, name), members[name], `${at}/${escapePointer(name)}`);
      return;
    }
    case 'items': {
      const elements = (value as readonly unknown[]).slice(0, all.limits.elements);
      const each = below(schema.items ?? true);
      return elements.forEach((element, index) => search(all, each, element, `${at}/${index}`));
    }
    default:
      if (KEYWORDS[keyword]?.(schema[keyword], value) === false) tell(all, place, keyword, at);
  }
}

/** An object's fields beyond those it names; their names are the sender's, so not each can be repeated. */
function searchBeyond(all: Search, child: Place, place: Place, value: object, at: string): void {
  const { properties = {}, patternProperties } = place.schema as SchemaObject;
  // Where patterns name fields too, Ajv alone knows which are beyond.
  if (patternProperties !== undefined) return;
  const members = value as Readonly<Record<string, unknown>>;
  for (const name of Object.keys(members)) {
    if (all.found.length >= all.limits.errors) return;
    if (Object.hasOwn(properties, name)) continue;
    const where = `${at}/${plainName(name)}`;
    if (child.schema === false) tell(all, place, 'additionalProperties', where, name);
    else search(all, child, members[name], where);
  }
}

const errorsOf = (all: Search, place: Place, value: unknown, at: string): SchemaError[] => {
  const found: SchemaError[] = [];
  search({ ...all, found }, place, value, at);
  return found;
};

/** As much of an error as tells how far a value is from an alternative. */
interface BranchError {
  readonly keyword: string;
  readonly at: string;
  readonly limit: unknown;
}

/**
 * The errors of the alternative that a value was meant for: of its type, and with more of the fields that it must have than any
 * other. Undefined where that is not clear.
 */
export function meantBranch<E extends BranchError>(
  branches: readonly (readonly E[])[],
  at: string,
): readonly E[] | undefined {
  const scored = branches
    .map((errors) => ({ errors, distance: distanceOf(errors, at) }))
    .toSorted((a, b) => a.distance - b.distance);
  const [nearest, next] = scored;
  if (nearest === undefined || !Number.isFinite(nearest.distance)) return undefined;
  return nearest.distance === next?.distance ? undefined : nearest.errors;
}

/** How far a value as a whole is from an alternative: another type is another thing. */
function distanceOf(errors: readonly BranchError[], at: string): number {
  if (errors.some((error) => error.keyword === 'type' && error.at === at)) return Number.POSITIVE_INFINITY;
  return errors.filter(
    (error) => error.keyword === 'required' && error.at === `${at}/${escapePointer(String(error.limit))}`,
  ).length;
}
