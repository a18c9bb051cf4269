import type { Fault } from '../model/fault.ts';
import type { Operation } from '../model/operation.ts';
import type { Violation } from '../model/violation.ts';
import type { DecodedParameters } from './compile/decode-parameters.ts';
import type { ResponseToCheck, ResponseFindings } from './compile/check-response.ts';
import type {
  OpenApiDocument,
  CatalogueEntry,
  FieldPermission,
  PermissionEntry,
  PrivateOption,
} from './openapi-document.ts';
import type { OperationValidators } from './compile/compile-validators.ts';
import type { SchemaFiles } from './explain/schema-errors.ts';
import type { ParameterValues } from './values.ts';
import type { PathMatch } from './paths.ts';

/** The contract, compiled once at startup. Nothing in it is compiled or changed later. */
export interface Contract {
  /** A short digest of the document and its schemas; part of every cache key. */
  readonly version: string;
  /** The overlays in the order in which they were applied. */
  readonly overlays: readonly string[];
  /** Problems that do not prevent startup: overlay targets that select nothing. */
  readonly warnings: readonly Fault[];
  readonly operations: readonly Operation[];
  /** The document with overlays applied, for display. The request path does not read it. */
  readonly document: OpenApiDocument;
  /** The generated schemas, by the paths that validators name. */
  readonly schemas: SchemaFiles;
  readonly permissions: readonly PermissionEntry[];
  readonly groups: readonly CatalogueEntry[];
  readonly flags: readonly CatalogueEntry[];
  /** The private visibilities of comments and the permission for each. */
  readonly privateOptions: readonly PrivateOption[];
  /** The fields that only some callers may see or set. */
  readonly fieldPermissions: readonly FieldPermission[];
  /** Finds the path template that a raw path matches. Case, slashes and `.json` must match exactly. */
  readonly match: (path: string) => PathMatch | undefined;
  /** Decodes and checks the parameters of a request; throws if the operation is not in the contract. */
  readonly decodeParameters: (
    operation: Operation,
    match: Pick<PathMatch, 'rawParameters'>,
    rawQuery: string | undefined,
  ) => DecodedParameters;
  /** Returns the validators of an operation; throws if the operation is not in the contract. */
  readonly validators: (operationId: string) => OperationValidators;
  /** Checks a response of the upstream: status, content type, schema, projection and semantic rules. */
  readonly checkResponse: (
    operation: Operation,
    parameters: ParameterValues,
    response: ResponseToCheck,
  ) => ResponseFindings;
  /** Checks the JSON value of a request body against its schema. */
  readonly checkRequest: (operation: Operation, value: unknown) => readonly Violation[];
}
