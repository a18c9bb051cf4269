import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
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

/**
 * The differences between the files in a folder and the generated files. Paths are relative to the folder and use
 * slashes.
 */
interface SchemaDifference {
  readonly missing: readonly string[];
  readonly stale: readonly string[];
  /** Files that were generated earlier but are no longer needed. */
  readonly superfluous: readonly string[];
}

const PARTS = ['resources', 'operations'];

/** Compares generated files with the files in a folder. The folder does not have to exist. */
export function compareSchemas(folder: string, generated: ReadonlyMap<string, string>): SchemaDifference {
  const onDisk = new Map(PARTS.flatMap((part) => readSchemas(folder, part)));
  const names = [...generated.keys()];
  return {
    missing: names.filter((name) => !onDisk.has(name)),
    stale: names.filter((name) => onDisk.has(name) && onDisk.get(name) !== generated.get(name)),
    // Files that were not generated are ignored, because they may belong to the user.
    superfluous: [...onDisk.keys()]
      .filter((name) => !generated.has(name) && onDisk.get(name)?.includes(`"$comment": "${GENERATED}`))
      .toSorted(),
  };
}

function readSchemas(folder: string, part: string): [name: string, text: string][] {
  if (!existsSync(join(folder, part))) return [];
  return readdirSync(join(folder, part), { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.schema.json'))
    .map(({ name }) => [`${part}/${name}`, readFileSync(join(folder, part, name), 'utf8')]);
}

/**
 * Writes the generated files to a folder and removes superfluous files. Returns the differences between the folder and
 * the generated files before the call.
 */
export function writeSchemas(folder: string, generated: ReadonlyMap<string, string>): SchemaDifference {
  const difference = compareSchemas(folder, generated);
  for (const name of [...difference.missing, ...difference.stale]) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), generated.get(name) ?? '');
  }
  for (const name of difference.superfluous) {
    rmSync(join(folder, name));
    const part = dirname(join(folder, name));
    if (readdirSync(part).length === 0) rmdirSync(part);
  }
  return difference;
}
