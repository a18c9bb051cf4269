import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The name that faults of the contract give as their source. */
export const CONTRACT_SOURCE = 'schemas/openapi.yaml';

/** What every generated schema's `$id` starts with. */
export const SCHEMA_BASE = 'https://portico.invalid/schemas/';

/** The folder that holds the contract: the nearest `schemas/openapi.yaml` above this file, in `src` as in `dist`. */
export function contractFolder(): string {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    const candidate = join(folder, 'schemas');
    if (existsSync(join(candidate, 'openapi.yaml')) || dirname(folder) === folder) return candidate;
  }
}
