import type { Fault } from '../model/fault.ts';
import type { Operation } from '../model/operation.ts';
import type { Violation } from '../model/violation.ts';
import type { DecodedParameters } from './compile/decode-parameters.ts';
import type { JudgedAnswer, Judgement } from './compile/check-response.ts';
import type {
  OpenApiDocument,
  CatalogueEntry,
  FieldPermission,
  PermissionEntry,
  PrivateOption,
} from './openapi-document.ts';
import type { OperationValidators } from './compile/compile-validators.ts';
import type { ParameterValues } from './parameter-values.ts';
import type { PathMatch } from './paths.ts';

/** The whole contract, compiled once at start; nothing in it compiles or changes later. */
export interface Contract {
  /** Short digest of the document and its schemas; part of every cache key. */
  readonly version: string;
  /** The overlays that were applied, in their order. */
  readonly overlays: readonly string[];
  /** What is odd and no reason not to start: targets of overlays that select nothing. */
  readonly warnings: readonly Fault[];
  readonly operations: readonly Operation[];
  /** What all of this was compiled from, overlays applied; for people to read, nothing on the request path does. */
  readonly document: OpenApiDocument;
  readonly permissions: readonly PermissionEntry[];
  readonly groups: readonly CatalogueEntry[];
  readonly flags: readonly CatalogueEntry[];
  /** The private visibilities of comments and the permission for each. */
  readonly privateOptions: readonly PrivateOption[];
  /** Which fields only some callers may see or set. */
  readonly fieldPermissions: readonly FieldPermission[];
  /** Finds the path template of a raw path, exact on case, slashes and `.json`. */
  readonly match: (path: string) => PathMatch | undefined;
  /** Decodes and checks the parameters of a request; throws for an id that the contract does not hold. */
  readonly decodeParameters: (
    operation: Operation,
    match: Pick<PathMatch, 'rawParameters'>,
    rawQuery: string | undefined,
  ) => DecodedParameters;
  /** The validators of an operation; throws for an id that the contract does not hold. */
  readonly validators: (operationId: string) => OperationValidators;
  /** Judges what the upstream answered: status, content type, schema, projection, semantic rules. */
  readonly judgeResponse: (operation: Operation, parameters: ParameterValues, answer: JudgedAnswer) => Judgement;
  /** Checks the JSON value of a request body against its schema. */
  readonly judgeRequest: (operation: Operation, value: unknown) => readonly Violation[];
}
