/** The parts of a schema that sampling uses. */
export interface SchemaNode {
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly required?: readonly string[];
  readonly 'x-expected'?: readonly string[];
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

/** The parts of an operation that sampling uses. */
export interface OperationNode {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, ResponseNode>>;
  readonly 'x-paging'?: { readonly observedPageSize?: number };
}

/** The parts of the OpenAPI document that sampling uses. */
export interface DocumentNode {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationNode>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, SchemaNode>>;
    readonly responses: Readonly<Record<string, ResponseNode>>;
    readonly parameters: Readonly<Record<string, unknown>>;
  };
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
