import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Operation } from '../model/operation.ts';
import { StartFault, type Fault } from '../model/fault.ts';
import { compileOperation, personalFields } from './compile/compile-operation.ts';
import { compilePaths, type PathEntry, type PathMatch } from './paths.ts';
import { compileValidators, type OperationValidators, toSchemaCheck } from './compile/compile-validators.ts';
import { createDescribeFound, type DescribeFound } from './explain/schema-violation.ts';
import { contractFolder, parametersFile } from './contract-files.ts';
import type { ContractOptions } from './contract-options.ts';
import type { SemanticRules } from './check-semantics.ts';
import type { ContractRules } from './rules.ts';
import { compileDecoder, type ParameterDecoder, type DecodedParameters } from './compile/decode-parameters.ts';
import { generateSchemas, type SchemaFiles } from './generate/generate-schemas.ts';
import { checkResponse, type ResponseToCheck, type ResponseFindings } from './compile/check-response.ts';
import type {
  OpenApiDocument,
  OperationObject,
  CatalogueEntry,
  FieldPermission,
  PermissionEntry,
} from './openapi-document.ts';
import { documentFiles, readDocument } from './document/read-document.ts';
import { openSchemaStore, type SchemaStore } from './compile/schema-store.ts';
import type { Violation } from '../model/violation.ts';
import type { ParameterValues } from './values.ts';

/** A compiled contract. It never changes; if a reload changes the contract, a new one is compiled. */
export interface Contract {
  /** A short digest of the document and its schemas. It is part of every cache key. */
  readonly version: string;
  /** The names of the overlays, in the order in which they were applied. */
  readonly overlays: readonly string[];
  /** Problems that do not prevent startup, such as an overlay action whose target matches nothing. */
  readonly warnings: readonly Fault[];
  readonly operations: readonly Operation[];
  /** The document with all overlays applied. It is not used to handle requests. */
  readonly document: OpenApiDocument;
  /** The generated schemas, keyed by path. */
  readonly schemas: SchemaFiles;
  readonly permissions: readonly PermissionEntry[];
  readonly groups: readonly CatalogueEntry[];
  readonly flags: readonly CatalogueEntry[];
  /** The fields that only some callers can see or set. */
  readonly fieldPermissions: readonly FieldPermission[];
  /** The names of the fields that contain personal data (`x-pii`). */
  readonly personal: ReadonlySet<string>;
  /** Finds the path template that matches a raw path. Letter case, slashes and `.json` must match exactly. */
  readonly match: (path: string) => PathMatch | undefined;
  /** Decodes and checks a request's parameters. Throws if the operation is not in the contract. */
  readonly decodeParameters: (
    operation: Operation,
    match: Pick<PathMatch, 'rawParameters'>,
    rawQuery: string | undefined,
  ) => DecodedParameters;
  /** The rules that operations can name. */
  readonly rules: ContractRules;
  readonly semanticRules: SemanticRules;
  /** Returns an operation's validators. Throws if the operation is not in the contract. */
  readonly validators: (operationId: string) => OperationValidators;
  /** Checks an upstream response's status, content type, schema, projection and semantic rules. */
  readonly checkResponse: (
    operation: Operation,
    parameters: ParameterValues,
    response: ResponseToCheck,
  ) => ResponseFindings;
  /** Checks a parsed request body against its schema. */
  readonly checkRequest: (operation: Operation, value: unknown) => readonly Violation[];
}

/** An operation and everything compiled for it. */
interface CompiledOperation {
  readonly operation: Operation;
  readonly validators: OperationValidators;
  readonly decode: ParameterDecoder;
}

/**
 * The contracts in memory, by their digests. A contract never changes, and compiling one takes longer than anything else
 * at startup, so a contract that is still used is not compiled again: by a reload, or by a command that first checks
 * the configuration.
 */
const compiledContracts = new Map<string, WeakRef<Contract>>();

/** Reads and compiles the contract. Throws a StartFault that lists all configuration errors in the contract. */
export function loadContract(options: ContractOptions): Contract {
  const sources = sourcesDigest(options);
  const known = compiledContracts.get(sources)?.deref();
  if (known?.rules === options.rules) return known;
  const contract = withFolder(options, (folder) => {
    const compiled = compileContract(options, folder);
    return { ...compiled, warnings: inFolder(compiled.warnings, options) };
  });
  for (const [key, reference] of compiledContracts) if (reference.deref() === undefined) compiledContracts.delete(key);
  // If a file has changed in the meantime, the digest may not be that of what was compiled.
  if (sourcesDigest(options) === sources) compiledContracts.set(sources, new WeakRef(contract));
  return contract;
}

/**
 * Returns a digest of everything from which a contract is compiled: the contents of all files, and the options that
 * affect the result. Contracts with the same digest are equal. A file that cannot be read counts as empty.
 */
function sourcesDigest(options: ContractOptions): string {
  const { folder = contractFolder(), overlays, inferred, allowedParameters, maxCollected } = options;
  const files = [...documentFiles(folder), ...overlays].map((file) => {
    try {
      return readFileSync(file, 'utf8');
    } catch {
      return '';
    }
  });
  return digest([JSON.stringify([folder, overlays, inferred, allowedParameters, maxCollected]), ...files], 64);
}

/**
 * Returns the contract's operations, for commands that do not check messages. Unlike {@link loadContract}, this
 * function does not compile the schemas, which takes up most of the loading time. Throws a StartFault that lists all
 * configuration errors in the document and its overlays.
 */
export function loadOperations(options: ContractOptions): readonly Operation[] {
  return withFolder(options, (folder) => {
    const { document } = readDocument(folder, options);
    return operationsOf(document, options).map(({ operation }) => operation);
  });
}

/** Reads the contract with its overlays and returns the schemas that are generated from it. */
export function loadSchemas(options: ContractOptions): SchemaFiles {
  return withFolder(options, (folder) => generateSchemas(readDocument(folder, options).document));
}

/** An operation and the object that defines it in the document. */
interface DocumentedOperation {
  readonly operation: Operation;
  readonly source: OperationObject;
}

/** Returns the operations that the options include, in the order shown in the specification's table. */
function operationsOf(document: OpenApiDocument, { inferred, rules }: ContractOptions): DocumentedOperation[] {
  return Object.entries(document.paths)
    .flatMap(([template, methods]) =>
      Object.entries(methods).map(([method, source]) => ({
        operation: compileOperation(document, template, method, source, rules.serverErrors),
        source,
      })),
    )
    .filter(({ operation }) => inferred || operation.provenance !== 'inferred')
    .toSorted((one, other) => byRow(one.operation, other.operation));
}

function compileContract(options: ContractOptions, folder: string): Contract {
  const { document, texts, locateFaults, warnings } = readDocument(folder, options);
  const schemas = generateSchemas(document);
  const store = openSchemaStore(schemas);
  const personal = personalFields(document);
  const describe = createDescribeFound(personal);
  const compiled = new Map(
    operationsOf(document, options).map(({ operation, source }) => [
      operation.id,
      compile(document, store, options, describe, operation, source),
    ]),
  );
  const paths = Object.entries(document.paths).map(([template, methods]) => {
    const operations = Object.values(methods).flatMap(({ operationId }) => compiled.get(operationId)?.operation ?? []);
    const byMethod = new Map(operations.map((operation) => [operation.method as string, operation]));
    const all = Object.keys(methods).map((method) => method.toUpperCase());
    return {
      template,
      byMethod,
      undocumentedMethods: new Set(all.filter((method) => !byMethod.has(method))),
    } satisfies PathEntry;
  });
  if (store.faults.length > 0) throw new StartFault(locateFaults(store.faults));

  const semanticRules = new Map(options.rules.semanticRules.map((rule) => [rule.name, rule]));
  const find = (id: string): CompiledOperation => {
    const found = compiled.get(id);
    if (!found) throw new Error(`the contract has no operation ${id}`);
    return found;
  };
  return {
    version: digest([...texts, ...store.texts]),
    overlays: options.overlays,
    warnings: warnings(),
    operations: [...compiled.values()].map((entry) => entry.operation),
    document,
    schemas,
    permissions: document['x-permissions'],
    groups: document['x-groups'],
    flags: document['x-flags'],
    fieldPermissions: document['x-field-permissions'],
    personal,
    match: compilePaths(paths.filter((entry) => entry.byMethod.size > 0)),
    decodeParameters: (operation, match, rawQuery) => find(operation.id).decode(match.rawParameters, rawQuery),
    rules: options.rules,
    semanticRules,
    validators: (id) => find(id).validators,
    checkResponse: (operation, parameters, response) =>
      checkResponse(operation, find(operation.id).validators, parameters, response, {
        semanticRules,
        maxCollected: options.maxCollected,
        describe,
      }),
    checkRequest: (operation, value) => find(operation.id).validators.request(value).slice(0, options.maxCollected),
  };
}

function compile(
  document: OpenApiDocument,
  store: SchemaStore,
  options: ContractOptions,
  describe: DescribeFound,
  operation: Operation,
  source: OperationObject,
): CompiledOperation {
  const place = { check: 'requests', direction: 'request', location: 'query' } as const;
  const checkTyped = toSchemaCheck(store.compile(parametersFile(operation.id)), place, { describe });
  const allowed = options.allowedParameters[operation.id] ?? [];
  return {
    operation,
    validators: compileValidators(document, source, store, { describe, max: options.maxCollected }),
    decode: compileDecoder(operation, allowed, checkTyped, options.maxCollected),
  };
}

/**
 * Calls `load` with the contract's folder. If the operator has configured a folder, configuration errors refer to that
 * folder instead of Portico's own.
 */
function withFolder<T>({ folder }: ContractOptions, load: (folder: string) => T): T {
  if (folder === undefined) return load(contractFolder());
  try {
    return load(folder);
  } catch (error) {
    if (!(error instanceof StartFault)) throw error;
    throw new StartFault(inFolder(error.faults, { folder }));
  }
}

/** Returns problems with the folder that the operator has configured, if any, instead of Portico's own. */
function inFolder(faults: readonly Fault[], { folder }: Pick<ContractOptions, 'folder'>): readonly Fault[] {
  if (folder === undefined) return faults;
  return faults.map(({ source, ...rest }) =>
    Object.assign(rest, { source: source.replace(/^schemas\//, () => `${folder}/`) }),
  );
}

/** Compares two operations by their rows in the specification's table. Inferred operations come last. */
function byRow(a: Operation, b: Operation): number {
  return (a.row ?? Number.MAX_SAFE_INTEGER) - (b.row ?? Number.MAX_SAFE_INTEGER);
}

function digest(texts: readonly string[], length = 12): string {
  const hash = createHash('sha256');
  for (const text of texts) hash.update(text);
  return hash.digest('hex').slice(0, length);
}
