import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** How the files on disk differ from what would be generated; paths from the folder of schemas. */
export interface Difference {
  readonly missing: readonly string[];
  readonly stale: readonly string[];
  readonly superfluous: readonly string[];
}

const GENERATED_FOLDERS = ['resources', 'operations'];

/** Compares generated text with the folder. */
export function compareFiles(folder: string, generated: ReadonlyMap<string, string>): Difference {
  const onDisk = GENERATED_FOLDERS.flatMap((part) => {
    const path = join(folder, part);
    if (!existsSync(path)) return [];
    return readdirSync(path, { recursive: true, encoding: 'utf8', withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) =>
        join(entry.parentPath, entry.name)
          .slice(folder.length + 1)
          .replaceAll('\\', '/'),
      );
  });
  const present = new Set(onDisk);
  const names = [...generated.keys()];
  return {
    missing: names.filter((name) => !present.has(name)),
    stale: names.filter(
      (name) => present.has(name) && readFileSync(join(folder, name), 'utf8') !== generated.get(name),
    ),
    superfluous: onDisk.filter((name) => !generated.has(name)).toSorted(),
  };
}
