import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The source that is shown for configuration errors in the contract. */
export const CONTRACT_SOURCE = 'schemas/openapi.yaml';

/** The prefix of the `$id` of every generated schema. */
export const SCHEMA_BASE = 'https://portico.invalid/schemas/';

/**
 * Returns the contract's folder: the nearest folder named `schemas` above this file, which is the same for `src` and
 * `dist`.
 */
export function contractFolder(): string {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    const schemas = join(folder, 'schemas');
    if (existsSync(join(schemas, 'openapi.yaml')) || dirname(folder) === folder) return schemas;
  }
}

// A generated schema is identified by the path in its `$id`. On disk, several schemas are stored in one file: see
// bundlePlace.

/** Returns the path of the schema for a resource. The projected form does not require any fields inside items. */
export function resourceFile(name: string, projected = false): string {
  const kebab = name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, '-').toLowerCase();
  return `resources/${kebab}${projected ? '.projected' : ''}.schema.json`;
}

/** The form of response that a schema describes: complete, with a projection, or with `details=true`. */
export type ResponseVariant = 'full' | 'projected' | 'open';

/** Returns the path of the schema for a response of an operation. `status` is a number or `default`. */
export function responseFile(operationId: string, status: string, variant: ResponseVariant): string {
  const suffix = { full: '', projected: '.projected', open: '.details' }[variant];
  return `operations/${operationId}/response.${status}${suffix}.schema.json`;
}

/** Returns the path of the schema for an operation's parameters. */
export function parametersFile(operationId: string): string {
  return `operations/${operationId}/parameters.schema.json`;
}

/** Returns the path of the schema for an operation's request body. */
export function requestFile(operationId: string): string {
  return `operations/${operationId}/request.schema.json`;
}

/** The place where a generated schema is stored on disk. */
interface BundlePlace {
  /** The path relative to the schema folder. There is one file for each resource and one for each operation. */
  readonly file: string;
  /**
   * The name of the schema in the file's `$defs`. Undefined for a resource, because its schema is the root of the file.
   */
  readonly name: string | undefined;
}

/**
 * Returns the place where a generated schema is stored on disk. For example, `operations/ID/request.schema.json` is
 * stored as `request` in `operations/ID.schema.json`.
 */
export function bundlePlace(path: string): BundlePlace {
  const [, operation, part] = /^operations\/([^/]+)\/(.+)\.schema\.json$/.exec(path) ?? [];
  if (operation !== undefined) return { file: `operations/${operation}.schema.json`, name: part };
  const [, resource] = /^(.+)\.projected\.schema\.json$/.exec(path) ?? [];
  return resource === undefined
    ? { file: path, name: undefined }
    : { file: `${resource}.schema.json`, name: 'projected' };
}
