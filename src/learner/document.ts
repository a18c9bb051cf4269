import type { SchemaObject } from '../engine/contract/openapi-document.ts';
import { visitSchemas } from '../engine/contract/walk-schema.ts';

/** The body of a response in one media type. */
interface MediaNode {
  readonly schema: SchemaObject;
  readonly 'x-variants'?: { readonly full: string; readonly open: string };
}

/** A response or a reference to a response. */
export interface ResponseNode {
  readonly $ref?: string;
  readonly content?: Readonly<Record<string, MediaNode | undefined>>;
}

/** The parts of an operation that are used in sampling. */
export interface OperationNode {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, ResponseNode>>;
  readonly 'x-paging'?: { readonly observedPageSize?: number };
}

/** The parts of the OpenAPI document that are used in sampling. */
export interface DocumentNode {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationNode>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, SchemaObject>>;
    readonly responses: Readonly<Record<string, ResponseNode>>;
    readonly parameters: Readonly<Record<string, unknown>>;
  };
}

/** Appends a name to a JSONPath. A plain name is appended with a dot, and any other name is put in brackets. */
export function childPath(path: string, name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? `${path}.${name}` : `${path}['${name.replaceAll(/['\\]/g, '\\$&')}']`;
}

/** Returns the node at a path created by {@link childPath}, or undefined if there is no such node. */
export function nodeAt(document: DocumentNode, path: string): unknown {
  let node: unknown = document;
  for (const [, name, quoted, index] of path.matchAll(/\.([A-Za-z_]\w*)|\['((?:\\.|[^'\\])*)'\]|\[(\d+)\]/g)) {
    const key = name ?? quoted?.replaceAll(/\\(.)/g, '$1') ?? index ?? '';
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, key)) return undefined;
    node = (node as Readonly<Record<string, unknown>>)[key];
  }
  return node;
}

/** Splits a path into the parent's path and the final name. */
export function splitPath(path: string): { readonly parent: string; readonly name: string } {
  const [last = '', plain, quoted] = /(?:\.([A-Za-z_]\w*)|\['((?:\\.|[^'\\])*)'\])$/.exec(path) ?? [];
  return { parent: path.slice(0, path.length - last.length), name: plain ?? quoted?.replaceAll(/\\(.)/g, '$1') ?? '' };
}

/** Returns the names of all fields in the contract. */
export function fieldNames({ components }: DocumentNode): ReadonlySet<string> {
  const names = new Set<string>();
  for (const schema of Object.values(components.schemas))
    visitSchemas(schema, ({ properties = {} }) => {
      for (const name of Object.keys(properties)) names.add(name);
    });
  return names;
}
