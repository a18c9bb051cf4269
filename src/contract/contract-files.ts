import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The source that configuration errors of the contract name. */
export const CONTRACT_SOURCE = 'schemas/openapi.yaml';

/** The prefix of every generated schema's `$id`. */
export const SCHEMA_BASE = 'https://portico.invalid/schemas/';

/** Returns the contract's folder: the nearest `schemas` above this file, which is the same for `src` and `dist`. */
export function contractFolder(): string {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    const schemas = join(folder, 'schemas');
    if (existsSync(join(schemas, 'openapi.yaml')) || dirname(folder) === folder) return schemas;
  }
}

// The path in a generated schema's `$id` is its name. On disk, several schemas share a file: see bundlePlace.

/** Returns the path of a resource's schema. The projected form requires nothing inside items. */
export function resourceFile(name: string, projected = false): string {
  const kebab = name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, '-').toLowerCase();
  return `resources/${kebab}${projected ? '.projected' : ''}.schema.json`;
}

/** The form of a response that a schema describes: complete, with a projection, or with `details=true`. */
export type ResponseVariant = 'full' | 'projected' | 'open';

/** Returns the path of the schema of one response of an operation; `status` is a number or `default`. */
export function responseFile(operationId: string, status: string, variant: ResponseVariant): string {
  const suffix = { full: '', projected: '.projected', open: '.details' }[variant];
  return `operations/${operationId}/response.${status}${suffix}.schema.json`;
}

/** Returns the path of the schema of an operation's parameters. */
export function parametersFile(operationId: string): string {
  return `operations/${operationId}/parameters.schema.json`;
}

/** Returns the path of the schema of an operation's request body. */
export function requestFile(operationId: string): string {
  return `operations/${operationId}/request.schema.json`;
}

/** The location of a generated schema on disk. */
interface BundlePlace {
  /** The path relative to the schema folder; each resource and each operation has one file. */
  readonly file: string;
  /** The name in the `$defs` of that file; undefined for a resource, which is the file's own schema. */
  readonly name: string | undefined;
}

/**
 * Returns the location of a generated schema on disk. For example, `operations/ID/request.schema.json` is `request` in
 * `operations/ID.schema.json`.
 */
export function bundlePlace(path: string): BundlePlace {
  const [, operation, part] = /^operations\/([^/]+)\/(.+)\.schema\.json$/.exec(path) ?? [];
  if (operation !== undefined) return { file: `operations/${operation}.schema.json`, name: part };
  const [, resource] = /^(.+)\.projected\.schema\.json$/.exec(path) ?? [];
  return resource === undefined
    ? { file: path, name: undefined }
    : { file: `${resource}.schema.json`, name: 'projected' };
}
