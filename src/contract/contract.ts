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
import type { SchemaFiles } from './generate/generate-schemas.ts';
import type { ParameterValues } from './values.ts';
import type { PathMatch } from './paths.ts';

/** The contract, which is compiled once at startup and never changes afterwards. */
export interface Contract {
  /** A short digest of the document and its schemas. It is part of every cache key. */
  readonly version: string;
  /**
   * A digest of the options and files that the contract was compiled from. A reload reuses the contract if this digest
   * is unchanged.
   */
  readonly sources: string;
  /** The names of the overlays, in the order in which they were applied. */
  readonly overlays: readonly string[];
  /** Problems that do not prevent startup, such as an overlay action whose target matches nothing. */
  readonly warnings: readonly Fault[];
  readonly operations: readonly Operation[];
  /** The document with all overlays applied. It is used only for display, never for handling requests. */
  readonly document: OpenApiDocument;
  /** The generated schemas, keyed by path. */
  readonly schemas: SchemaFiles;
  readonly permissions: readonly PermissionEntry[];
  readonly groups: readonly CatalogueEntry[];
  readonly flags: readonly CatalogueEntry[];
  /** The private visibility options of comments, each with the permission that it requires. */
  readonly privateOptions: readonly PrivateOption[];
  /** The fields that only some callers can see or set. */
  readonly fieldPermissions: readonly FieldPermission[];
  /** Finds the path template that matches a raw path. Letter case, slashes and `.json` must match exactly. */
  readonly match: (path: string) => PathMatch | undefined;
  /** Decodes and checks the parameters in a request. Throws if the operation is not in the contract. */
  readonly decodeParameters: (
    operation: Operation,
    match: Pick<PathMatch, 'rawParameters'>,
    rawQuery: string | undefined,
  ) => DecodedParameters;
  /** Returns the validators of an operation. Throws if the operation is not in the contract. */
  readonly validators: (operationId: string) => OperationValidators;
  /** Checks the status, content type, schema, projection and semantic rules of an upstream response. */
  readonly checkResponse: (
    operation: Operation,
    parameters: ParameterValues,
    response: ResponseToCheck,
  ) => ResponseFindings;
  /** Checks a parsed request body against its schema. */
  readonly checkRequest: (operation: Operation, value: unknown) => readonly Violation[];
}
