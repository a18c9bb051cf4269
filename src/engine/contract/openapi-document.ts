import type { ItemsAt, Provenance, Requirement } from '../model/operation.ts';

/** A schema in the document. Its vendor extensions have already been checked. */
export interface SchemaObject {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, SchemaOrBoolean>>;
  readonly items?: SchemaOrBoolean;
  readonly allOf?: readonly SchemaOrBoolean[];
  readonly anyOf?: readonly SchemaOrBoolean[];
  readonly oneOf?: readonly SchemaOrBoolean[];
  readonly not?: SchemaOrBoolean;
  readonly additionalProperties?: SchemaOrBoolean;
  readonly 'x-envelope'?: boolean;
  readonly 'x-pii'?: string;
  readonly 'x-private-field'?: boolean;
  readonly 'x-expected'?: readonly string[];
  readonly 'x-expected-type'?: string | readonly string[];
  readonly 'x-expected-minimum'?: number;
  readonly 'x-expected-maximum'?: number;
  readonly 'x-expected-pattern'?: string;
  readonly 'x-expected-enum'?: readonly string[];
  readonly [keyword: string]: unknown;
}

/** A schema. `true` accepts every value, and `false` accepts no value. */
export type SchemaOrBoolean = SchemaObject | boolean;

interface Reference {
  readonly $ref: string;
}

/** A parameter of an operation. */
export interface ParameterObject {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly schema: SchemaObject;
  readonly 'x-provenance': Provenance;
  readonly 'x-single'?: boolean;
  readonly 'x-acceptance'?: 'known' | 'report';
  readonly example?: unknown;
}

/** The description of a body with one media type. */
export interface MediaTypeObject {
  readonly schema: SchemaObject;
  readonly 'x-variants'?: { readonly full: string; readonly open: string };
  readonly 'x-breaks-contract'?: true;
  readonly examples?: Readonly<Record<string, { readonly value: unknown } | Reference>>;
}

/** The descriptions of a body, keyed by media type. */
export type ContentObject = Readonly<Record<string, MediaTypeObject>>;

/** A documented response of an operation. */
export interface ResponseObject {
  readonly description: string;
  readonly content: ContentObject;
  readonly 'x-provenance': Provenance;
  readonly 'x-documented-text'?: string;
  readonly 'x-documented-causes'?: readonly string[];
  /** Present if the document also allows a response without a body. */
  readonly 'x-may-be-empty'?: true;
}

/** How the changes of a list can be found. `item` refers to the schema of the list's items. */
export interface ChangesObject {
  readonly item: string;
  readonly kind: string;
  readonly id: string;
  readonly by?: string;
  readonly created?: string;
  readonly version?: readonly string[];
  readonly grows?: Readonly<Record<string, string>>;
  readonly target?: string;
  readonly title?: string;
  readonly hide?: string;
  readonly omit?: readonly string[];
  readonly query?: string;
}

/** An operation, as written in the document. */
export interface OperationObject {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters?: readonly (ParameterObject | Reference)[];
  readonly requestBody?: { readonly required?: boolean; readonly content: ContentObject };
  readonly responses: Readonly<Record<string, ResponseObject | Reference>>;
  readonly 'x-row'?: number;
  readonly 'x-since'?: string;
  readonly 'x-provenance': Provenance;
  readonly 'x-requires'?: Requirement;
  readonly 'x-needs-feature'?: string;
  readonly 'x-credential': 'required' | 'optional';
  readonly 'x-identity-independent'?: boolean;
  readonly 'x-paging'?: {
    readonly firstPage: 0 | 1;
    readonly observedPageSize?: number;
    readonly hasPageCount: boolean;
  };
  readonly 'x-changes'?: ChangesObject;
  readonly 'x-cache'?: { readonly byDefault: boolean; readonly tags: readonly string[] };
  readonly 'x-purges'?: readonly string[];
  readonly 'x-items-at': ItemsAt;
  readonly 'x-semantic-rules'?: readonly string[];
  readonly 'x-request-rules'?: readonly string[];
  readonly 'x-unknown-parameters'?: 'refuse' | 'report';
  readonly 'x-may-be-private'?: true;
}

/** An entry in a catalog at the root of the document. */
export interface CatalogueEntry {
  readonly name: string;
  readonly provenance: Provenance;
}

/** A permission and the role category that the specification assigns to it. */
export interface PermissionEntry extends CatalogueEntry {
  readonly category?: 'anonymous' | 'standard' | 'custom' | 'site administration';
}

/** A private visibility option for comments and the permission that it requires. */
export interface PrivateOption {
  /**
   * The value of `visibility`. Only the `recipients` option is documented. The names of the other options are inferred
   * and can be changed.
   */
  readonly option: string;
  readonly target: 'original poster' | 'moderators' | 'own groups';
  readonly permission: string;
  /** The provenance of the option's name. */
  readonly optionProvenance: Provenance;
  /** The provenance of the option's target and permission. */
  readonly mappingProvenance: Provenance;
}

/** Fields that only some callers can see or set. */
export interface FieldPermission {
  readonly fields: readonly string[];
  /** The ids of the operations whose messages contain these fields. */
  readonly operations: readonly string[];
  readonly requires: Requirement;
  readonly provenance: Provenance;
}

/** The contract as written in `schemas/openapi.yaml`. Its vendor extensions have already been checked. */
export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, SchemaObject>>;
    readonly parameters: Readonly<Record<string, ParameterObject>>;
    readonly responses: Readonly<Record<string, ResponseObject>>;
    readonly examples: Readonly<Record<string, { readonly value: unknown }>>;
  };
  readonly 'x-permissions': readonly PermissionEntry[];
  readonly 'x-groups': readonly CatalogueEntry[];
  readonly 'x-flags': readonly CatalogueEntry[];
  readonly 'x-private-visibility'?: readonly PrivateOption[];
  readonly 'x-field-permissions': readonly FieldPermission[];
}

/** Returns the name of the component that a reference points to, which is the last segment of the reference. */
export function referencedName(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}

/** Returns the referenced component if `place` is a reference, or `place` itself if it is not. */
export function resolve<T extends object>(
  document: OpenApiDocument,
  kind: 'parameters' | 'responses' | 'schemas' | 'examples',
  place: T | Reference,
): T {
  if (!('$ref' in place) || typeof place.$ref !== 'string') return place as T;
  const components = document.components[kind] as Readonly<Record<string, unknown>>;
  return components[referencedName(place.$ref)] as T;
}
