import { closestName } from '../../../lib/closest-name.ts';
import type { ItemsAt, Operation, Parameter } from '../../model/operation.ts';
import type { Violation, ViolationCategory } from '../../model/violation.ts';
import { plainParameter } from '../../privacy/shown-name.ts';
import { describeValue, SIZE_ONLY } from '../../privacy/describe-value.ts';
import { type ParameterValues, type Projection, WHOLE_ITEM } from '../values.ts';
import { parameterViolation } from '../violations.ts';

/** A request's decoded parameters and the violations in them. */
export interface DecodedParameters {
  readonly values: ParameterValues;
  /** The violations that can cause the request to be refused. */
  readonly violations: readonly Violation[];
  /**
   * The undocumented parameters that the contract permits (docs/rules.md §4). They are counted but never cause the
   * request to be refused.
   */
  readonly reported: readonly Violation[];
}

/** Decodes an operation's raw parameters. */
export type ParameterDecoder = (
  rawParameters: Readonly<Record<string, string>>,
  rawQuery: string | undefined,
) => DecodedParameters;

/** The typed parameter values, grouped by location as in the generated schema. */
interface TypedParameters {
  readonly path: Record<string, unknown>;
  readonly query: Record<string, unknown>;
}

const MAX_PAIRS = 100;

/**
 * Compiles the decoder for an operation. `checkBounds` checks values against the operation's generated parameter
 * schema.
 */
export function compileDecoder(
  operation: Operation,
  allowed: readonly string[],
  checkBounds: (typed: TypedParameters) => readonly Violation[],
  maxCollected: number,
): ParameterDecoder {
  const inPath = operation.parameters.filter((parameter) => parameter.location === 'path');
  const textInPath = inPath.some((parameter) => parameter.type === 'text');
  const inQuery = new Map(
    operation.parameters.filter((parameter) => parameter.location === 'query').map((known) => [known.name, known]),
  );
  const accepted = new Set(allowed);
  const names = [...inQuery.keys(), ...accepted];
  return (rawParameters, rawQuery) => {
    const violations: Violation[] = [];
    const reported: Violation[] = [];
    const typed: TypedParameters = { path: {}, query: {} };
    const path: Record<string, string> = {};
    for (const parameter of inPath) {
      const text = decodeText(rawParameters[parameter.name] ?? '');
      const value = take(parameter, text, violations);
      if (text !== undefined) path[parameter.name] = text;
      // The invalid value has already been reported. The placeholder prevents the schema check from also reporting the
      // parameter as missing.
      typed.path[parameter.name] = value ?? 0;
    }
    // An operation that accepts unknown parameters also accepts ones that cannot be decoded (docs/rules.md §4).
    const unknowns = operation.unknownParameters === 'report' ? reported : violations;
    const query = readQuery(rawQuery ?? '', unknowns, (name) => (inQuery.has(name) ? violations : unknowns));
    for (const [name, texts] of query) {
      const parameter = inQuery.get(name);
      if (parameter) takeAll(parameter, texts, typed.query, violations, accepted.has(name) ? [] : reported);
      else if (!accepted.has(name)) unknowns.push(unknown(name, texts, names, unknowns === violations));
    }
    const isNegative = Object.values(typed.path).some((value) => typeof value === 'number' && value < 0);
    if (textInPath || isNegative || Object.keys(typed.query).length > 0) {
      const outOfBounds = checkBounds(typed);
      if (outOfBounds.length > 0) addNamed(outOfBounds, violations, typed);
    }
    const values = toValues(operation, path, query, typed.query);
    return { values, violations: violations.slice(0, maxCollected), reported: reported.slice(0, maxCollected) };
  };
}

/**
 * Adds the violations found by the schema. Removes invalid query parameters from the typed values, and omits violations
 * of path parameters that have already been reported.
 */
function addNamed(outOfBounds: readonly Violation[], violations: Violation[], typed: TypedParameters): void {
  const alreadyReported = new Set(violations.filter(({ location }) => location === 'path').map(({ at }) => at));
  for (const found of outOfBounds.map(toNamed)) {
    if (found.location === 'query') delete typed.query[found.at];
    else if (alreadyReported.has(found.at)) continue;
    else alreadyReported.add(found.at);
    violations.push(found);
  }
}

/** Replaces the violation's pointer to the typed value with the parameter's name. */
function toNamed(violation: Violation): Violation {
  const [, location = 'query', name = ''] = violation.at.split('/');
  const message = name + violation.message.slice(violation.at.length);
  return { ...violation, location: location === 'path' ? 'path' : 'query', at: name, message };
}

/**
 * Splits a raw query into decoded names and values. At most `MAX_PAIRS` pairs are read. Pairs that cannot be decoded
 * are reported instead.
 */
function readQuery(
  rawQuery: string,
  nameless: Violation[],
  placeOf: (name: string) => Violation[],
): ReadonlyMap<string, readonly string[]> {
  const query = new Map<string, string[]>();
  if (rawQuery === '') return query;
  const parts = rawQuery.split('&', MAX_PAIRS + 1);
  if (parts.length > MAX_PAIRS)
    nameless.push(parameterViolation('query', '', 'bounds', 'count', `send at most ${MAX_PAIRS} query parameters`));
  let pairs = 0;
  for (const part of parts) {
    if (part === '' || pairs === MAX_PAIRS) continue;
    pairs += 1;
    const at = part.indexOf('=');
    const name = decodeQueryText(at < 0 ? part : part.slice(0, at));
    const value = at < 0 ? '' : decodeQueryText(part.slice(at + 1));
    if (name === undefined || value === undefined) {
      const shown = plainParameter(name);
      const message = `${shown || 'a query parameter'} must be percent-encoded UTF-8 without a NUL`;
      const found = name === undefined ? nameless : placeOf(name);
      found.push(parameterViolation('query', shown, 'format', 'encoding', message));
      continue;
    }
    const texts = query.get(name);
    if (texts) texts.push(value);
    else query.set(name, [value]);
  }
  return query;
}

function takeAll(
  parameter: Parameter,
  texts: readonly string[],
  typed: Record<string, unknown>,
  violations: Violation[],
  reported: Violation[],
): void {
  const { name } = parameter;
  const found = parameter.acceptance === 'report' ? reported : violations;
  if (parameter.acceptance === 'report')
    reported.push(
      parameterViolation('query', name, 'undocumented', 'unknown', `${name} is not documented for this operation`),
    );
  if (parameter.single && texts.length > 1) {
    found.push(parameterViolation('query', name, 'bounds', 'repeated', `send ${name} only once`));
    return;
  }
  if (parameter.single) {
    const value = take(parameter, texts[0], found);
    if (value !== undefined) typed[name] = value;
    return;
  }
  const values = texts.map((text) => take(parameter, text, found));
  if (!values.includes(undefined)) typed[name] = values;
}

function take(parameter: Parameter, text: string | undefined, violations: Violation[]): unknown {
  const { name, location } = parameter;
  if (text === undefined) {
    const message = `${name} must be percent-encoded UTF-8 without a NUL`;
    violations.push(parameterViolation(location, name, 'format', 'encoding', message));
    return undefined;
  }
  const typed = toTypedValue(parameter, text);
  if ('value' in typed) return typed.value;
  const violation = parameterViolation(location, name, typed.category, typed.keyword, `${name} ${typed.must}`);
  violations.push({ ...violation, found: describeValue(text, { form: true, word: false }) });
  return undefined;
}

function unknown(name: string, texts: readonly string[], known: readonly string[], canBeRefused: boolean): Violation {
  const at = plainParameter(name);
  const suggestion = closestName(name, known);
  const message = `${at || 'a query parameter'} is not a known parameter of this operation`;
  const found = describeValue(texts[0], SIZE_ONLY);
  return {
    ...parameterViolation('query', at, canBeRefused ? 'not-allowed' : 'undocumented', 'unknown', message),
    ...(suggestion && { suggestion }),
    found,
  };
}

function toValues(
  { itemsAt }: Operation,
  path: Readonly<Record<string, string>>,
  query: ReadonlyMap<string, readonly string[]>,
  typed: Readonly<Record<string, unknown>>,
): ParameterValues {
  const number = (name: string) => {
    const value = typed[name];
    return typeof value === 'number' ? value : undefined;
  };
  const text = (name: string) => (name in typed ? query.get(name)?.[0] : undefined);
  return {
    path,
    query,
    page: number('page'),
    pageSize: number('pageSize'),
    sort: text('sort'),
    spaceId: text('spaceId'),
    projection: toProjection(query, itemsAt),
    details: typed['details'] === true,
    active: typed['active'] !== false,
    wrap: query.has('wrap'),
    v1: query.has('v1'),
  };
}

/**
 * Reads `include`, `exclude` and `includeOnly`. Returns undefined if none of them names a field. In a list, a path may
 * begin with the name of the member that contains the items.
 */
export function toProjection(query: ReadonlyMap<string, readonly string[]>, itemsAt: ItemsAt): Projection | undefined {
  if (!query.has('include') && !query.has('exclude') && !query.has('includeOnly')) return undefined;
  const relative = (path: string) => {
    if (itemsAt === 'body' || itemsAt === 'elements') return path;
    if (path === itemsAt) return WHOLE_ITEM;
    return path.startsWith(`${itemsAt}.`) ? path.slice(itemsAt.length + 1) : path;
  };
  const paths = (name: string) =>
    (query.get(name) ?? []).flatMap((value) =>
      value
        .split(',')
        .map((path) => path.trim())
        .filter((path) => path !== '')
        .map(relative),
    );
  const projection = { include: paths('include'), exclude: paths('exclude'), includeOnly: paths('includeOnly') };
  const selected = projection.include.length + projection.exclude.length + projection.includeOnly.length;
  return selected === 0 ? undefined : projection;
}

const covers = (listed: string, path: string) =>
  listed === WHOLE_ITEM || path === listed || path.startsWith(`${listed}.`);

/** Returns true if a projection preserves an item's field and everything inside it. */
export function survives(projection: Projection | undefined, path: string): boolean {
  if (!projection) return true;
  const { include, exclude, includeOnly } = projection;
  if (exclude.some((listed) => covers(listed, path) || covers(path, listed))) return false;
  // The documentation does not say whether `include` adds fields or selects them, so only the named fields are certain
  // to be present.
  const limits = [...include, ...includeOnly];
  return limits.length === 0 || limits.some((listed) => covers(listed, path));
}

/** A parameter's typed value, or the requirement that its text violates. */
type TypedValue =
  | { readonly value: unknown }
  | { readonly category: ViolationCategory; readonly keyword: string; readonly must: string };

const MAX_INT64 = 9_223_372_036_854_775_807n;

/**
 * Converts a parameter's text to its type. A number must not contain a plus sign, spaces, an exponent or hexadecimal
 * digits.
 */
function toTypedValue(parameter: Parameter, text: string): TypedValue {
  if (parameter.type === 'text') return { value: text };
  if (parameter.type === 'boolean') {
    if (text === 'true' || text === 'false') return { value: text === 'true' };
    return { category: 'type', keyword: 'type', must: 'must be true or false' };
  }
  if (/^[0-9]{1,9}$/.test(text)) return { value: Number(text) };
  // A negative number is accepted here so that the schema check can report it and mention the parameter's minimum.
  if (/^-0*[1-9][0-9]{0,18}$/.test(text)) return { value: Number(text) };
  const must = parameter.wide
    ? 'must be a whole number within 64 bits'
    : 'must be a whole number of one to nine digits';
  if (!/^(?:[0-9]+|-0*[1-9][0-9]*)$/.test(text)) return { category: 'type', keyword: 'type', must };
  const tooLarge = { category: 'bounds', keyword: 'maximum', must } as const;
  if (!parameter.wide || !/^[0-9]{1,19}$/.test(text)) return tooLarge;
  // Values above 2^53 are rounded. This is harmless, because the number is only compared with the schema's bounds and
  // the original text is forwarded.
  return BigInt(text) <= MAX_INT64 ? { value: Number(text) } : tooLarge;
}

/** Decodes a query name or value like `decodeText`, but also converts `+` to a space. */
function decodeQueryText(raw: string): string | undefined {
  return decodeText(raw.includes('+') ? raw.replaceAll('+', ' ') : raw);
}

/**
 * Decodes `%XX` sequences as UTF-8. Returns undefined if the encoding or the UTF-8 is invalid, or if the result
 * contains a NUL character.
 */
function decodeText(raw: string): string | undefined {
  if (!raw.includes('%')) return raw;
  try {
    const text = decodeURIComponent(raw);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}
