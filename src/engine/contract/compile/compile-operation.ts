import type { ServerErrorForm, ServerErrors } from '../../model/server-errors.ts';
import type {
  DocumentedError,
  ListChanges,
  Operation,
  OperationMethod,
  Parameter,
  PrivateFields,
} from '../../model/operation.ts';
import {
  type ChangesObject,
  type OpenApiDocument,
  type OperationObject,
  type ParameterObject,
  resolve,
  type ResponseObject,
  type SchemaObject,
  type SchemaOrBoolean,
} from '../openapi-document.ts';
import { schemasOfValue, visitDocument } from '../walk-schema.ts';

/** Compiles one operation from the document into plain data. */
export function compileOperation(
  document: OpenApiDocument,
  path: string,
  method: string,
  source: OperationObject,
  serverErrors: ServerErrors,
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
    changes: source['x-changes'] && listChanges(source['x-changes']),
    cacheability: source['x-cache'],
    purges: source['x-purges'] ?? [],
    privateFields: privateFields(document, source.operationId),
    semanticRules: source['x-semantic-rules'] ?? [],
    requestRules: source['x-request-rules'] ?? [],
    requestBody: body && { required: body.required ?? false },
    statuses: Object.keys(source.responses)
      .filter((status) => status !== 'default')
      .map(Number)
      .toSorted((a, b) => a - b),
    documentedErrors: documentedErrors(document, source),
    serverErrors,
    documentedForm: documentedForm(document, source, serverErrors),
    documentedFields: documentedFields(document, source),
  };
}

function listChanges(source: ChangesObject): ListChanges {
  const { item, kind, id, by, created, version, grows = {}, target, title, hide, omit = [], query } = source;
  return { item, kind, id, by, created, version, grows, target, title, hide, omit, query };
}

/** Returns the fields of an operation's responses that only some callers may see, and what they need for it. */
function privateFields(document: OpenApiDocument, operationId: string): PrivateFields | undefined {
  const rules = document['x-field-permissions'].filter(({ operations }) => operations.includes(operationId));
  const [first, ...others] = rules;
  if (first === undefined) return undefined;
  return {
    names: [...new Set(rules.flatMap(({ fields }) => fields))],
    requires: others.length === 0 ? first.requires : { all: rules.map(({ requires }) => requires) },
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
    const response = resolve<ResponseObject>(document, 'responses', place);
    const { 'x-documented-text': text, 'x-documented-causes': causes } = response;
    return text === undefined ? [] : [{ status: Number(status), text, ...(causes && { causes }) }];
  });
}

function documentedForm(
  document: OpenApiDocument,
  { responses }: OperationObject,
  forms: ServerErrors,
): ServerErrorForm | undefined {
  const denial = responses['403'] && resolve<ResponseObject>(document, 'responses', responses['403']);
  const schema = denial?.content['application/json']?.schema;
  const required = schema && resolve<SchemaObject>(document, 'schemas', schema).required;
  return forms.find(({ at }) => required?.includes(at[0]) === true) ?? forms[0];
}

/**
 * Returns the top-level fields of an operation's successful responses, which distinguish a page from an error body sent
 * with status 200. Responses that are arrays have no such fields.
 */
export function documentedFields(document: OpenApiDocument, source: OperationObject): readonly string[] {
  const names = new Set<string>();
  for (const [status, place] of Object.entries(source.responses)) {
    if (!status.startsWith('2')) continue;
    const { content } = resolve<ResponseObject>(document, 'responses', place);
    for (const media of Object.values(content))
      for (const { properties = {} } of schemasOfValue(document, media.schema))
        for (const name of Object.keys(properties)) names.add(name);
  }
  return [...names];
}

/**
 * Returns the names of all fields that the contract marks as personal (`x-pii`), either directly or in a referenced
 * schema. A name marked anywhere counts as personal everywhere.
 */
export function personalFields(document: OpenApiDocument): ReadonlySet<string> {
  const names = new Set<string>();
  visitDocument(document, ({ properties = {} }) => {
    for (const [name, schema] of Object.entries(properties)) if (isPersonal(document, schema)) names.add(name);
  });
  return names;
}

/** Returns whether a value or the elements of an array are personal. */
function isPersonal(document: OpenApiDocument, place: SchemaOrBoolean, seen = new Set<SchemaOrBoolean>()): boolean {
  return schemasOfValue(document, place, seen).some(
    (schema) => schema['x-pii'] !== undefined || isPersonal(document, schema.items ?? true, seen),
  );
}
