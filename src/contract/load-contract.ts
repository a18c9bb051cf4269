import { createHash } from 'node:crypto';
import type { Operation } from '../model/operation.ts';
import { type Fault, StartFault } from '../model/fault.ts';
import { compileOperation } from './compile-operation.ts';
import { compilePaths } from './compile-paths.ts';
import { compileValidators } from './compile-validators.ts';
import { contractFolder } from './contract-files.ts';
import type { ContractOptions } from './contract-options.ts';
import type { Contract } from './contract.ts';
import { compileDecoder, type ParameterDecoder } from './decode-parameters.ts';
import { judgeResponse } from './judge-response.ts';
import type { OpenApiDocument, OperationObject } from './openapi-document.ts';
import type { OperationValidators } from './operation-validators.ts';
import type { PathEntry } from './path-match.ts';
import { readDocument } from './read-document.ts';
import { parametersFile } from './schema-names.ts';
import { toSchemaCheck } from './schema-check.ts';
import { openSchemaStore, type SchemaStore } from './schema-store.ts';
import { closestName } from '../lib/closest-name.ts';

/** One operation with all that was compiled for it. */
interface CompiledOperation {
  readonly operation: Operation;
  readonly validators: OperationValidators;
  readonly decode: ParameterDecoder;
}

/** Reads the contract and compiles all of it; throws a StartFault that carries everything wrong with it. */
export function loadContract(options: ContractOptions, folder: string = contractFolder()): Contract {
  const { document, text } = readDocument(folder);
  const store = openSchemaStore(folder);
  const compiled = new Map<string, CompiledOperation>();
  const paths = Object.entries(document.paths).map(([template, methods]) => {
    const byMethod = new Map<string, Operation>();
    const undocumentedMethods = new Set<string>();
    for (const [method, source] of Object.entries(methods)) {
      if (source['x-provenance'] === 'inferred' && !options.inferred) {
        undocumentedMethods.add(method.toUpperCase());
        continue;
      }
      const entry = compile(document, store, options, compileOperation(document, template, method, source), source);
      compiled.set(entry.operation.id, entry);
      byMethod.set(entry.operation.method, entry.operation);
    }
    return { template, byMethod, undocumentedMethods } satisfies PathEntry;
  });
  const faults = [...store.faults, ...checkAllowed(document, options)];
  if (faults.length > 0) throw new StartFault(faults);

  const find = (id: string): CompiledOperation => {
    const found = compiled.get(id);
    if (!found) throw new Error(`the contract holds no operation ${id}`);
    return found;
  };
  return {
    version: digest([text, ...store.texts]),
    operations: [...compiled.values()].map((entry) => entry.operation).toSorted(byRow),
    permissions: document['x-permissions'],
    groups: document['x-groups'],
    flags: document['x-flags'],
    privateOptions: document['x-private-visibility'],
    fieldPermissions: document['x-field-permissions'],
    match: compilePaths(paths.filter((entry) => entry.byMethod.size > 0)),
    decodeParameters: (operation, match, rawQuery) => find(operation.id).decode(match.rawParameters, rawQuery),
    validators: (id) => find(id).validators,
    judgeResponse: (operation, parameters, answer) =>
      judgeResponse(operation, find(operation.id).validators, parameters, answer, options.maxCollected),
    judgeRequest: (operation, value) => find(operation.id).validators.request(value).slice(0, options.maxCollected),
  };
}

function compile(
  document: OpenApiDocument,
  store: SchemaStore,
  options: ContractOptions,
  operation: Operation,
  source: OperationObject,
): CompiledOperation {
  const place = { check: 'requests', direction: 'request', location: 'query' } as const;
  const checkTyped = toSchemaCheck(store.compile(parametersFile(operation.id)), place);
  const allowed = options.allowedParameters[operation.id] ?? [];
  return {
    operation,
    validators: compileValidators(document, source, store),
    decode: compileDecoder(operation, allowed, checkTyped, options.maxCollected),
  };
}

/** Faults of `parameters.allow`: names of operations that the document does not hold. */
function checkAllowed(document: OpenApiDocument, options: ContractOptions): Fault[] {
  const ids = Object.values(document.paths).flatMap((methods) => Object.values(methods).map((one) => one.operationId));
  return Object.keys(options.allowedParameters)
    .filter((id) => !ids.includes(id))
    .map((id) => unknownOperation(id, ids));
}

function unknownOperation(id: string, ids: readonly string[]): Fault {
  const suggestion = closestName(id, ids);
  const fault = { source: 'parameters', pointer: `/allow/${id}`, message: `there is no operation called ${id}` };
  return suggestion === undefined ? fault : { ...fault, suggestion };
}

/** The order of the specification's table; inferred operations last. */
function byRow(a: Operation, b: Operation): number {
  return (a.row ?? Number.MAX_SAFE_INTEGER) - (b.row ?? Number.MAX_SAFE_INTEGER);
}

function digest(texts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const text of texts) hash.update(text);
  return hash.digest('hex').slice(0, 12);
}
