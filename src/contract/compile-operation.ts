import { documentedFields } from './documented-fields.ts';
import type { DocumentedError, Operation, OperationMethod, Parameter } from '../model/operation.ts';
import type {
  OpenApiDocument,
  OperationObject,
  ParameterObject,
  ResponseObject,
  SchemaObject,
} from './openapi-document.ts';
import { resolve } from './resolve-reference.ts';

/** Compiles one operation of the document to plain data. */
export function compileOperation(
  document: OpenApiDocument,
  path: string,
  method: string,
  source: OperationObject,
): Operation {
  const paging = source['x-paging'];
  const body = source.requestBody;
  return {
    id: source.operationId,
    row: source['x-row'],
    method: method.toUpperCase() as OperationMethod,
    path,
    summary: source.summary,
    since: source['x-since'],
    provenance: source['x-provenance'],
    needsCredential: source['x-credential'] === 'required',
    identityIndependent: source['x-identity-independent'] ?? false,
    requires: source['x-requires'],
    needsFeature: source['x-needs-feature'],
    mayBePrivate: source['x-may-be-private'] ?? false,
    parameters: (source.parameters ?? []).map((place) => toParameter(document, resolve(document, 'parameters', place))),
    unknownParameters: source['x-unknown-parameters'] ?? 'refuse',
    itemsAt: source['x-items-at'],
    paging: paging && { ...paging, observedPageSize: paging.observedPageSize },
    cacheability: source['x-cache'],
    purges: source['x-purges'] ?? [],
    carriesPrivateFields: document['x-field-permissions'].some((rule) => rule.operations.includes(source.operationId)),
    semanticRules: source['x-semantic-rules'] ?? [],
    requestRules: source['x-request-rules'] ?? [],
    requestBody: body && { required: body.required ?? false },
    statuses: Object.keys(source.responses)
      .filter((status) => status !== 'default')
      .map(Number)
      .toSorted((a, b) => a - b),
    documentedErrors: documentedErrors(document, source),
    documentedFields: documentedFields(document, source),
  };
}

function toParameter(document: OpenApiDocument, source: ParameterObject): Parameter {
  const schema = resolve<SchemaObject>(document, 'schemas', source.schema);
  return {
    name: source.name,
    location: source.in,
    type: schema.type === 'integer' || schema.type === 'boolean' ? schema.type : 'text',
    wide: schema.format === 'int64',
    single: source.in === 'path' || (source['x-single'] ?? false),
    acceptance: source['x-acceptance'] ?? 'known',
    provenance: source['x-provenance'],
  };
}

function documentedErrors(document: OpenApiDocument, source: OperationObject): DocumentedError[] {
  return Object.entries(source.responses).flatMap(([status, place]) => {
    const text = resolve<ResponseObject>(document, 'responses', place)['x-documented-text'];
    return text === undefined ? [] : [{ status: Number(status), text }];
  });
}
