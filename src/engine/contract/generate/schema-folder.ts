import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { GENERATED } from './generate-schemas.ts';

/**
 * The differences between the files in a folder and the generated files. Paths are relative to the folder and use
 * slashes.
 */
interface SchemaDifference {
  readonly missing: readonly string[];
  readonly stale: readonly string[];
  /** Previously generated files that are no longer needed. */
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
 * Writes the generated files to a folder and removes superfluous ones. Returns how the folder differed from
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
