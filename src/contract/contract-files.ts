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

// Generated schemas are named by the path in their `$id`. On disk several of them share a file: see bundlePlace.

/** The path of a resource's schema; `projected` has nothing required inside items. */
export function resourceFile(name: string, projected = false): string {
  const kebab = name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, '-').toLowerCase();
  return `resources/${kebab}${projected ? '.projected' : ''}.schema.json`;
}

/** Which form of an answer a schema describes: whole, with a projection, or `details=true`. */
export type ResponseVariant = 'full' | 'projected' | 'open';

/** The path of the schema of one answer of an operation; `status` is a number or `default`. */
export function responseFile(operationId: string, status: string, variant: ResponseVariant): string {
  const suffix = { full: '', projected: '.projected', open: '.details' }[variant];
  return `operations/${operationId}/response.${status}${suffix}.schema.json`;
}

/** The path of the schema of an operation's parameters. */
export function parametersFile(operationId: string): string {
  return `operations/${operationId}/parameters.schema.json`;
}

/** The path of the schema of an operation's request body. */
export function requestFile(operationId: string): string {
  return `operations/${operationId}/request.schema.json`;
}

/** Where a generated schema is on disk. */
export interface BundlePlace {
  /** One file per resource and one per operation, from the folder of schemas. */
  readonly file: string;
  /** Its name in the `$defs` of that file; undefined for the file's own schema, which is the resource. */
  readonly name: string | undefined;
}

/** Returns the place on disk of the schema with a path: `operations/ID/request.schema.json` is `request` in `operations/ID.schema.json`. */
export function bundlePlace(path: string): BundlePlace {
  const [, operation, part] = /^operations\/([^/]+)\/(.+)\.schema\.json$/.exec(path) ?? [];
  if (operation !== undefined) return { file: `operations/${operation}.schema.json`, name: part };
  const [, resource] = /^(.+)\.projected\.schema\.json$/.exec(path) ?? [];
  return resource === undefined
    ? { file: path, name: undefined }
    : { file: `${resource}.schema.json`, name: 'projected' };
}
