/** A schema of the contract as far as learning reads it. */
export interface SchemaNode {
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, SchemaNode | boolean>>;
  readonly items?: SchemaNode | boolean;
  readonly allOf?: readonly (SchemaNode | boolean)[];
  readonly anyOf?: readonly (SchemaNode | boolean)[];
  readonly enum?: readonly unknown[];
  readonly [keyword: string]: unknown;
}

/** A body of an answer in one media type. */
interface MediaNode {
  readonly schema: SchemaNode;
  readonly 'x-variants'?: { readonly full: string; readonly open: string };
}

/** An answer, or a pointer to one. */
export interface AnswerNode {
  readonly $ref?: string;
  readonly content?: Readonly<Record<string, MediaNode | undefined>>;
}

/** An operation as far as learning reads it. */
export interface OperationNode {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, AnswerNode>>;
  readonly 'x-paging'?: { readonly observedPageSize?: number };
}

/** The contract's document as far as learning reads it. */
export interface DocumentNode {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationNode>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, SchemaNode>>;
    readonly responses: Readonly<Record<string, AnswerNode>>;
    readonly parameters: Readonly<Record<string, unknown>>;
  };
}

/** One more step of a JSONPath: a plain name with a dot, any other in brackets. */
export function stepTo(path: string, name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? `${path}.${name}` : `${path}['${name.replaceAll(/['\\]/g, '\\$&')}']`;
}

/** What stands at a path that {@link stepTo} has made; undefined where nothing does. */
export function nodeAt(document: DocumentNode, path: string): unknown {
  const steps = [...path.matchAll(/\.([A-Za-z_]\w*)|\['((?:\\.|[^'\\])*)'\]|\[(\d+)\]/g)];
  let node: unknown = document;
  for (const [, name, quoted, index] of steps) {
    const key = name ?? quoted?.replaceAll(/\\(.)/g, '$1') ?? index ?? '';
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, key)) return undefined;
    node = (node as Readonly<Record<string, unknown>>)[key];
  }
  return node;
}

/** A path without its last name, and that name. */
export function splitPath(path: string): { readonly parent: string; readonly name: string } {
  const [last = '', plain, quoted] = /(?:\.([A-Za-z_]\w*)|\['((?:\\.|[^'\\])*)'\])$/.exec(path) ?? [];
  return { parent: path.slice(0, path.length - last.length), name: plain ?? quoted?.replaceAll(/\\(.)/g, '$1') ?? '' };
}

/** The last names of a path as people say them: `Node.attachments[]`. */
export function placeName(path: string): string {
  const [, name] = /^\$\.components\.(?:schemas|responses|parameters)(?:\.|\[')(.*)$/.exec(path) ?? [];
  return (name ?? path)
    .replaceAll(/\.allOf\[\d+\]|\.anyOf\[\d+\]|\.properties(?=[.[])|\.content\['application\/json'\]\.schema/g, '')
    .replaceAll('.items', '[]');
}

/** The names of all fields that the contract has. */
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
