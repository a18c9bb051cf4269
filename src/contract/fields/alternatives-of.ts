import { posix } from 'node:path';
import type { SchemaFiles } from '../find-errors.ts';
import type { SchemaOrBoolean } from '../openapi-document.ts';

/** A schema in the file that its references start from. */
export interface Place {
  readonly schema: SchemaOrBoolean;
  readonly file: string;
}

/** Schemas that a value has to keep to all at once. */
export type Together = readonly Place[];

/** More alternatives than any contract has. */
const MAX_ALTERNATIVES = 64;
const MAX_DEPTH = 32;

/** Stands for what is not looked into: whatever it comes together with, the value counts as open. */
const ANYTHING: Place = { schema: { if: true }, file: '' };

/** The ways to keep to one schema, with references followed and its parts laid side by side. */
export function alternativesOf(files: SchemaFiles, place: Place, depth = 0): readonly Together[] {
  const { schema, file } = place;
  if (depth > MAX_DEPTH) return [[ANYTHING]];
  if (typeof schema === 'boolean') return [[place]];
  let ways: readonly Together[] = [[place]];
  if (schema.$ref !== undefined) {
    const target = posix.join(posix.dirname(file), schema.$ref);
    ways = both(ways, alternativesOf(files, { schema: files.get(target) ?? true, file: target }, depth + 1));
  }
  for (const part of schema.allOf ?? []) ways = both(ways, alternativesOf(files, { schema: part, file }, depth + 1));
  for (const choice of [schema.anyOf, schema.oneOf]) {
    if (choice === undefined) continue;
    ways = both(
      ways,
      choice.flatMap((part) => alternativesOf(files, { schema: part, file }, depth + 1)),
    );
  }
  return ways;
}

/** The ways to keep to several schemas at once. */
export function alternativesOfAll(files: SchemaFiles, places: Together): readonly Together[] {
  return places.reduce<readonly Together[]>((ways, place) => both(ways, alternativesOf(files, place)), [[]]);
}

function both(left: readonly Together[], right: readonly Together[]): readonly Together[] {
  if (left.length * right.length > MAX_ALTERNATIVES) return [[ANYTHING]];
  return left.flatMap((one) => right.map((other) => [...one, ...other]));
}
