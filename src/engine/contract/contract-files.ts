import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The source named in configuration errors about the contract. */
export const CONTRACT_SOURCE = 'schemas/openapi.yaml';

/**
 * The prefix of every generated schema's `$id`. `portico:/PATH` names the file PATH in this package. It is a name and
 * not an address, because the package has no public address that would stay the same.
 */
export const SCHEMA_BASE = 'portico:/schemas/';

/**
 * Returns the contract's folder: the nearest `schemas` folder, starting in the folder that contains this file and
 * continuing with its ancestors. The result is the same for code run from `src` and from `dist`.
 */
export function contractFolder(): string {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    const schemas = join(folder, 'schemas');
    if (existsSync(join(schemas, 'openapi.yaml')) || dirname(folder) === folder) return schemas;
  }
}

// Each generated schema is identified by the path in its `$id`. Several schemas can be stored in one file (see
// bundlePlace).

/** Returns the path of a resource's schema. In the projected variant, no field inside an item is required. */
export function resourceFile(name: string, projected = false): string {
  const kebab = name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, '-').toLowerCase();
  return `resources/${kebab}${projected ? '.projected' : ''}.schema.json`;
}

/** The response variant that a schema describes: the full response, a projected one, or one with `details=true`. */
export type ResponseVariant = 'full' | 'projected' | 'open';

/** Returns the path of the schema for one of an operation's responses. `status` is a number or `default`. */
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

/** Where a generated schema is stored on disk. */
interface BundlePlace {
  /** The file's path, relative to the schema folder. Each resource and each operation has its own file. */
  readonly file: string;
  /** The schema's name in the file's `$defs`. Undefined for a resource, whose schema is the root of the file. */
  readonly name: string | undefined;
}

/**
 * Returns where a generated schema is stored on disk. For example, `operations/ID/request.schema.json` is stored under
 * `request` in `operations/ID.schema.json`.
 */
export function bundlePlace(path: string): BundlePlace {
  const [, operation, part] = /^operations\/([^/]+)\/(.+)\.schema\.json$/.exec(path) ?? [];
  if (operation !== undefined) return { file: `operations/${operation}.schema.json`, name: part };
  const [, resource] = /^(.+)\.projected\.schema\.json$/.exec(path) ?? [];
  return resource === undefined
    ? { file: path, name: undefined }
    : { file: `${resource}.schema.json`, name: 'projected' };
}
