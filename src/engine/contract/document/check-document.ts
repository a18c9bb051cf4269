import { createSlownessCheck } from '../../../lib/backtracking.ts';
import { closestName } from '../../../lib/closest-name.ts';
import { escapePointer, pointerTo } from '../../../lib/json-pointer.ts';
import type { Fault } from '../../model/fault.ts';
import type { Requirement } from '../../model/operation.ts';
import { CONTRACT_SOURCE, resourceFile } from '../contract-files.ts';
import {
  type OpenApiDocument,
  type OperationObject,
  type ParameterObject,
  referencedName,
  resolve,
  type SchemaOrBoolean,
} from '../openapi-document.ts';
import { MAX_SEGMENTS, PLACEHOLDER } from '../paths.ts';
import type { ContractRules } from '../rules.ts';
import { describesSameValue, innerSchemas, visitDocument } from '../walk-schema.ts';
import { documentedFields } from '../compile/compile-operation.ts';

// Names that an operation cannot have, because they are either reserved metric labels or names of inherited properties.
const RESERVED = new Set(['undocumented', 'other', ...Object.getOwnPropertyNames(Object.prototype)]);

/**
 * Checks the parts of a document that JSON Schema cannot check: references, placeholders, and the names in catalogs and
 * rules.
 */
export function checkDocument(document: OpenApiDocument, rules: ContractRules): Fault[] {
  const dangling = danglingReferences(document, document, '');
  if (dangling.length > 0) return dangling;
  const faults: Fault[] = [
    ...checkPaths(Object.keys(document.paths)),
    ...checkResourceNames(document),
    ...checkReferences(document),
  ];
  const ids = new Set<string>();
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(methods)) {
      const pointer = pointerTo(['paths', path, method]);
      if (ids.has(operation.operationId)) faults.push(fault(`${pointer}/operationId`, 'is used twice'));
      if (RESERVED.has(operation.operationId)) faults.push(fault(`${pointer}/operationId`, 'is a reserved name'));
      ids.add(operation.operationId);
      faults.push(...checkOperation(document, path, operation, { pointer, rules }));
    }
  document['x-field-permissions'].forEach((rule, index) => {
    const pointer = `/x-field-permissions/${index}`;
    faults.push(...checkRequirement(document, rule.requires, `${pointer}/requires`));
    rule.operations.forEach((id, at) => {
      if (!ids.has(id)) faults.push(unknownName(`${pointer}/operations/${at}`, 'operation', id, ids));
    });
  });
  const permissions = document['x-permissions'].map((entry) => entry.name);
  document['x-private-visibility']?.forEach((option, index) => {
    if (!permissions.includes(option.permission))
      faults.push(
        unknownName(`/x-private-visibility/${index}/permission`, 'permission', option.permission, permissions),
      );
  });
  return faults;
}

function checkOperation(
  document: OpenApiDocument,
  path: string,
  operation: OperationObject,
  { pointer, rules }: { readonly pointer: string; readonly rules: ContractRules },
): Fault[] {
  const faults: Fault[] = [];
  const parameters = (operation.parameters ?? []).map((place) =>
    resolve<ParameterObject>(document, 'parameters', place),
  );
  parameters.forEach((parameter, index) => {
    const same = (other: ParameterObject) => other.name === parameter.name && other.in === parameter.in;
    if (parameters.findIndex(same) !== index)
      faults.push(fault(`${pointer}/parameters/${index}`, `${parameter.name} is listed twice in the parameters`));
  });
  const inPath = parameters.filter((parameter) => parameter.in === 'path').map((parameter) => parameter.name);
  const inTemplate = placeholders(path);
  for (const name of inTemplate)
    if (!inPath.includes(name)) faults.push(fault(pointer, `{${name}} in the path is not listed in the parameters`));
  for (const name of inPath) if (!inTemplate.includes(name)) faults.push(fault(pointer, `the path has no {${name}}`));
  for (const tag of [...(operation['x-purges'] ?? []), ...(operation['x-cache']?.tags ?? [])])
    for (const name of placeholders(tag))
      if (!inPath.includes(name)) faults.push(unknownName(pointer, 'path parameter', name, inPath));
  const known = {
    semantic: rules.semanticRules.map(({ name }) => name),
    request: rules.requestRules.map(({ name }) => name),
  };
  for (const name of operation['x-semantic-rules'] ?? [])
    if (!known.semantic.includes(name))
      faults.push(unknownName(`${pointer}/x-semantic-rules`, 'semantic rule', name, known.semantic));
  for (const name of operation['x-request-rules'] ?? [])
    if (!known.request.includes(name))
      faults.push(unknownName(`${pointer}/x-request-rules`, 'request rule', name, known.request));
  if (operation['x-request-rules'] !== undefined && operation.requestBody === undefined)
    faults.push(fault(`${pointer}/x-request-rules`, 'has no effect, because the operation has no requestBody'));
  const itemsAt = operation['x-items-at'];
  const members = documentedFields(document, operation);
  if (itemsAt !== 'body' && itemsAt !== 'elements' && !members.includes(itemsAt))
    faults.push(unknownName(`${pointer}/x-items-at`, 'member of a successful response', itemsAt, members));
  const paging = operation['x-paging'];
  // Page bounds look for these names only. With others, pages would silently have no bounds.
  if (paging !== undefined)
    for (const name of ['page', 'pageSize'])
      if (!parameters.some((one) => one.in === 'query' && one.name === name))
        faults.push(fault(`${pointer}/x-paging`, `needs the query parameter ${name}`));
  if (paging?.hasPageCount === true && !members.includes('pageCount'))
    faults.push(fault(`${pointer}/x-paging/hasPageCount`, 'needs the member pageCount in a successful response'));
  if (operation['x-requires'])
    faults.push(...checkRequirement(document, operation['x-requires'], `${pointer}/x-requires`));
  return faults;
}

function checkRequirement(document: OpenApiDocument, requirement: Requirement, pointer: string): Fault[] {
  const known = (kind: string, name: string, entries: readonly { readonly name: string }[]) => {
    const names = entries.map((entry) => entry.name);
    return names.includes(name) ? [] : [unknownName(pointer, kind, name, names)];
  };
  if ('permission' in requirement) return known('permission', requirement.permission, document['x-permissions']);
  if ('group' in requirement) return known('group', requirement.group, document['x-groups']);
  if ('flag' in requirement) return known('flag', requirement.flag, document['x-flags']);
  if ('own' in requirement) return checkRequirement(document, requirement.own, `${pointer}/own`);
  const [key, parts] = 'all' in requirement ? ['all', requirement.all] : ['any', requirement.any];
  return parts.flatMap((part, index) => checkRequirement(document, part, `${pointer}/${key}/${index}`));
}

function danglingReferences(document: OpenApiDocument, value: unknown, pointer: string): Fault[] {
  if (typeof value !== 'object' || value === null) return [];
  const faults: Fault[] = [];
  for (const [key, child] of Object.entries(value)) {
    const at = `${pointer}/${escapePointer(key)}`;
    if (typeof child === 'string' && child.startsWith('#/')) {
      const kind = child.split('/')[2] ?? '';
      const components = document.components as Readonly<Record<string, object | undefined>>;
      const names = Object.keys(components[kind] ?? {});
      const name = referencedName(child);
      if (!names.includes(name)) faults.push(unknownName(at, `component in ${kind}`, name, names));
    } else faults.push(...danglingReferences(document, child, at));
  }
  return faults;
}

const placeholders = (text: string) => [...text.matchAll(/\{([^{}]*)\}/g)].map((match) => match[1] ?? '');

function unknownName(pointer: string, kind: string, name: string, known: Iterable<string>): Fault {
  const suggestion = closestName(name, known);
  return { ...fault(pointer, `there is no ${kind} called ${name}`), ...(suggestion && { suggestion }) };
}

function fault(pointer: string, message: string): Fault {
  return { source: CONTRACT_SOURCE, pointer, message };
}

/** Checks that each path can be matched, and that no two paths match the same requests. */
function checkPaths(paths: readonly string[]): Fault[] {
  const shapes = new Map<string, string>();
  return paths.flatMap((path) => {
    const pointer = `/paths/${escapePointer(path)}`;
    if (!path.startsWith('/')) return [fault(pointer, 'must begin with a slash')];
    const segments = path.slice(1).split('/');
    if (segments.length >= MAX_SEGMENTS) return [fault(pointer, `has more than ${MAX_SEGMENTS - 1} segments`)];
    const odd = segments.find((segment) => /[{}]/.test(segment.replace(PLACEHOLDER, '$2')));
    if (odd !== undefined) return [fault(pointer, 'a segment can contain only one placeholder, at its beginning')];
    const shape = segments.map((segment) => segment.replace(PLACEHOLDER, '{}$2')).join('/');
    const other = shapes.get(shape);
    shapes.set(shape, path);
    return other === undefined ? [] : [fault(pointer, `matches the same requests as ${other}`)];
  });
}

/** Checks that resource names are valid and that no two resources have the same generated file. */
function checkResourceNames({ components }: Pick<OpenApiDocument, 'components'>): Fault[] {
  const files = new Map<string, string>();
  return Object.keys(components.schemas).flatMap((name) => {
    const pointer = `/components/schemas/${escapePointer(name)}`;
    if (!/^[A-Za-z]\w*$/.test(name)) return [fault(pointer, 'must have a name that consists of letters, digits and _')];
    const file = resourceFile(name);
    const other = files.get(file);
    files.set(file, name);
    return other === undefined ? [] : [fault(pointer, `differs from ${other} only in case`)];
  });
}

/**
 * Finds references that are not allowed: schemas that apply themselves to the same value again, and parameters and
 * responses in `components` that are references.
 */
function checkReferences({ components }: Pick<OpenApiDocument, 'components'>): Fault[] {
  const { schemas } = components;
  const reaches = (from: string, target: string, seen: Set<string>): boolean =>
    appliedTo(schemas[from] ?? true).some((next) => {
      if (next === target || seen.has(next)) return next === target;
      seen.add(next);
      return reaches(next, target, seen);
    });
  const cycles = Object.keys(schemas)
    .filter((name) => reaches(name, name, new Set()))
    .map((name) => fault(`/components/schemas/${escapePointer(name)}`, 'refers to itself endlessly'));
  const aliases = (['parameters', 'responses'] as const).flatMap((kind) =>
    Object.entries(components[kind])
      .filter(([, component]) => '$ref' in component)
      .map(([name]) => fault(`/components/${kind}/${escapePointer(name)}`, 'must not be a reference')),
  );
  return [...cycles, ...aliases];
}

/** Returns the names of the resources that a schema applies to the whole value rather than to a part of it. */
function appliedTo(schema: SchemaOrBoolean): string[] {
  if (typeof schema === 'boolean') return [];
  const own = schema.$ref === undefined ? [] : [referencedName(schema.$ref)];
  const parts = innerSchemas(schema).filter(describesSameValue);
  return own.concat(parts.flatMap((part) => appliedTo(part.schema)));
}

/** Returns an error message if a keyword's value is invalid, or undefined otherwise. */
type ValueCheck = (value: unknown) => string | undefined;

const TYPES = ['string', 'integer', 'number', 'boolean', 'object', 'array', 'null'];

const isCount = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0;
const check =
  (isCorrect: (value: unknown) => boolean, message: string): ValueCheck =>
  (value) =>
    isCorrect(value) ? undefined : message;
const isStringList = (value: unknown) => Array.isArray(value) && value.every((one) => typeof one === 'string');
const isSchema = (value: unknown) =>
  typeof value === 'boolean' || (typeof value === 'object' && value !== null && !Array.isArray(value));
const number = check((value) => typeof value === 'number' && Number.isFinite(value), 'must be a number');
const count = check(isCount, 'must be a whole number of at least 0');
const text = check((value) => typeof value === 'string', 'must be a string');
const flag = check((value) => typeof value === 'boolean', 'must be true or false');
const schema = check(isSchema, 'must be a schema');
const schemas = check(
  (value) => Array.isArray(value) && value.length > 0 && value.every(isSchema),
  'must be a list of schemas',
);
const types = check(
  (value) => [value].flat().length > 0 && [value].flat().every((one) => TYPES.includes(one as string)),
  `must be ${TYPES.join(', ')}, or a list of these`,
);
const anything: ValueCheck = () => undefined;

/** The keywords that the contract's schemas may use, each with a check for its value. */
const KEYWORDS: Readonly<Record<string, ValueCheck>> = {
  $ref: text,
  type: types,
  'x-expected-type': types,
  enum: check((value) => Array.isArray(value) && value.length > 0, 'must be a list with at least one value'),
  const: anything,
  required: check(isStringList, 'must be a list of names'),
  properties: check(
    (value) => isSchema(value) && typeof value === 'object',
    'must be an object whose members are schemas',
  ),
  additionalProperties: schema,
  items: schema,
  not: schema,
  allOf: schemas,
  anyOf: schemas,
  oneOf: schemas,
  minimum: number,
  maximum: number,
  exclusiveMinimum: number,
  exclusiveMaximum: number,
  multipleOf: check((value) => typeof value === 'number' && value > 0, 'must be a number greater than 0'),
  minLength: count,
  maxLength: count,
  minItems: count,
  maxItems: count,
  minProperties: count,
  maxProperties: count,
  pattern: check(isRegularExpression, 'must be a regular expression'),
  'x-expected-minimum': number,
  'x-expected-maximum': number,
  'x-expected-pattern': check(isRegularExpression, 'must be a regular expression'),
  ...Object.fromEntries(['title', 'description', 'format', '$comment'].map((name) => [name, text])),
  ...Object.fromEntries(['deprecated', 'readOnly', 'writeOnly'].map((name) => [name, flag])),
  ...Object.fromEntries(
    ['default', 'example', 'examples', 'externalDocs', 'xml', 'discriminator'].map((name) => [name, anything]),
  ),
};

/** Checks that the schemas in a document use only supported keywords with valid values. */
export function checkSchemas(document: OpenApiDocument): Fault[] {
  const faults: Fault[] = [];
  visitDocument(document, (place, pointer) => {
    const wrong = Object.entries(place).flatMap(([keyword, value]) => keywordFaults(keyword, value, pointer));
    faults.push(...wrong);
    return wrong.length === 0;
  });
  return faults;
}

/**
 * Returns a warning for each required field that no schema in the document describes. Such a requirement is legal, but
 * its name is probably misspelled. The document's schemas must have passed `checkSchemas`.
 */
export function requirementWarnings(document: OpenApiDocument): Fault[] {
  const described = new Set<string>();
  const required: { readonly name: string; readonly pointer: string }[] = [];
  visitDocument(document, (place, pointer) => {
    for (const name of Object.keys(place.properties ?? {})) described.add(name);
    for (const name of place.required ?? []) required.push({ name, pointer: `${pointer}/required` });
  });
  return required
    .filter(({ name }) => !described.has(name))
    .map(({ name, pointer }) => {
      const suggestion = closestName(name, described);
      const warning = fault(pointer, `requires ${name}, which no schema describes`);
      return suggestion === undefined ? warning : Object.assign(warning, { suggestion });
    });
}

/**
 * Returns a warning for each pattern that can block the event loop, because matching it can take more than linear time.
 * The patterns in `trusted` are not checked. The document's schemas must have passed `checkSchemas`.
 */
export function patternWarnings(document: OpenApiDocument, trusted: ReadonlySet<string>): Fault[] {
  const slowness = createSlownessCheck();
  return patternPlaces(document).flatMap(({ pattern, pointer }) => {
    const message = trusted.has(pattern) ? undefined : slowness(pattern, 'u');
    return message === undefined ? [] : [fault(pointer, message)];
  });
}

/** Returns all patterns in a document. The document's schemas must have passed `checkSchemas`. */
export function patternsIn(document: OpenApiDocument): ReadonlySet<string> {
  return new Set(patternPlaces(document).map(({ pattern }) => pattern));
}

function patternPlaces(document: OpenApiDocument): { readonly pattern: string; readonly pointer: string }[] {
  const found: { readonly pattern: string; readonly pointer: string }[] = [];
  visitDocument(document, (place, pointer) => {
    for (const keyword of ['pattern', 'x-expected-pattern']) {
      const pattern: unknown = place[keyword];
      if (typeof pattern === 'string') found.push({ pattern, pointer: `${pointer}/${keyword}` });
    }
  });
  return found;
}

function keywordFaults(keyword: string, value: unknown, pointer: string): Fault[] {
  if (keyword.startsWith('x-') && !Object.hasOwn(KEYWORDS, keyword)) return [];
  const at = { source: CONTRACT_SOURCE, pointer: `${pointer}/${escapePointer(keyword)}` };
  if (!Object.hasOwn(KEYWORDS, keyword)) {
    const suggestion = closestName(keyword, Object.keys(KEYWORDS));
    return [{ ...at, message: 'is not a supported schema keyword', ...(suggestion && { suggestion }) }];
  }
  const message = KEYWORDS[keyword]?.(value);
  return message === undefined ? [] : [{ ...at, message }];
}

function isRegularExpression(value: unknown): boolean {
  try {
    return typeof value === 'string' && new RegExp(value, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}
