/** The parts of a schema that are used in sampling. */
export interface SchemaNode {
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly required?: readonly string[];
  readonly 'x-expected'?: readonly string[];
  readonly 'x-expected-type'?: string | readonly string[];
  readonly properties?: Readonly<Record<string, SchemaNode | boolean>>;
  readonly items?: SchemaNode | boolean;
  readonly allOf?: readonly (SchemaNode | boolean)[];
  readonly anyOf?: readonly (SchemaNode | boolean)[];
  readonly enum?: readonly unknown[];
  readonly [keyword: string]: unknown;
}

/** The body of a response in one media type. */
interface MediaNode {
  readonly schema: SchemaNode;
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
    readonly schemas: Readonly<Record<string, SchemaNode>>;
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
  const collect = (schema: SchemaNode | boolean | undefined): void => {
    if (typeof schema !== 'object') return;
    for (const [name, child] of Object.entries(schema.properties ?? {})) {
      names.add(name);
      collect(child);
    }
    for (const child of [schema.items, ...(schema.allOf ?? []), ...(schema.anyOf ?? [])]) collect(child);
  };
  for (const schema of Object.values(components.schemas)) collect(schema);
  return names;
}
