import { posix } from 'node:path';
import type { SchemaOrBoolean } from './openapi-document.ts';
import { innerSchemas } from './walk-schema.ts';

/** Schemas, keyed by path. A schema refers to another by its relative path. */
export type SchemasByPath = ReadonlyMap<string, SchemaOrBoolean>;

/** A schema, and the path to which its references are relative. */
export interface PlacedSchema {
  readonly schema: SchemaOrBoolean;
  readonly path: string;
}

/** A group of schemas, all of which a value must match. Their references and combinations have been resolved. */
export type Together = readonly PlacedSchema[];

/** How far schemas are expanded, and what happens beyond that. */
interface ExpansionLimits {
  readonly maxAlternatives: number;
  /** Returns what stands for schemas that have too many alternatives or whose references cannot be followed. */
  readonly giveUp: (reason: string) => readonly Together[];
}

/** Returns the alternative ways in which a value can match all of several schemas. */
type FindAlternatives = (schemas: SchemasByPath, places: readonly PlacedSchema[]) => readonly Together[];

const MAX_DEPTH = 32;

/**
 * Creates a function that returns the alternative ways in which a value can match all of several schemas. References
 * are followed, `allOf` parts are combined, and each part of `anyOf` and `oneOf` is an alternative.
 */
export function createAlternatives({ maxAlternatives, giveUp }: ExpansionLimits): FindAlternatives {
  const both = (left: readonly Together[], right: readonly Together[]): readonly Together[] => {
    if (left.length * right.length > maxAlternatives) return giveUp('many alternatives');
    return left.flatMap((one) => right.map((other) => [...one, ...other]));
  };
  const alternativesOf = (schemas: SchemasByPath, place: PlacedSchema, depth: number): readonly Together[] => {
    const { schema, path } = place;
    if (depth > MAX_DEPTH) return giveUp(`references that do not end, in ${path}`);
    if (typeof schema === 'boolean') return [[place]];
    let all: readonly Together[] = [[place]];
    if (schema.$ref !== undefined) {
      const target = posix.join(posix.dirname(path), schema.$ref);
      const referenced = schemas.get(target);
      if (referenced === undefined) return giveUp(`the reference ${schema.$ref} in ${path}`);
      all = both(all, alternativesOf(schemas, { schema: referenced, path: target }, depth + 1));
    }
    const inside = Map.groupBy(innerSchemas(schema), ({ keyword }) => keyword);
    const alternatives = (keyword: 'allOf' | 'anyOf' | 'oneOf') =>
      (inside.get(keyword) ?? []).map((inner) => alternativesOf(schemas, { schema: inner.schema, path }, depth + 1));
    for (const part of alternatives('allOf')) all = both(all, part);
    for (const keyword of ['anyOf', 'oneOf'] as const)
      if (inside.has(keyword)) all = both(all, alternatives(keyword).flat());
    return all;
  };
  return (schemas, places) =>
    places.reduce<readonly Together[]>((all, place) => both(all, alternativesOf(schemas, place, 0)), [[]]);
}
