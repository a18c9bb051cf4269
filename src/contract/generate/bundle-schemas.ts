import { bundlePlace, SCHEMA_BASE } from '../contract-files.ts';
import type { SchemaObject } from '../openapi-document.ts';
import { EXPECTATIONS } from './generate-schemas.ts';

/** The beginning of the comment in each generated file. */
export const GENERATED = 'Generated from openapi.yaml by ';

/**
 * Combines the generated schemas into files for human readers: one file per resource and one per operation. Each file
 * is a compound document (JSON Schema 2020-12, section 9.3): every schema in `$defs` has its own `$id`, and its
 * references are relative to that `$id`. The files contain only standard JSON Schema keywords, so strict validators
 * accept them. Returns the contents of the files in a fixed order, keyed by path relative to the schema folder.
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
  const texts = [...bundles].map(([file, bundle]) => [file, `${write(bundle)}\n`] as const);
  return new Map(texts.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

const write = (bundle: unknown) =>
  JSON.stringify(bundle, (key, value: unknown) => (EXPECTATIONS.includes(key) ? undefined : value), 2);
