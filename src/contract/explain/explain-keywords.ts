import { _, type CodeKeywordDefinition, type ErrorObject, type KeywordCxt, Name, str } from 'ajv/dist/2020.js';
import { Type } from 'ajv/dist/compile/util.js';
import { escapePointer } from '../../lib/json-pointer.ts';
import { plainName } from '../../privacy/client-text.ts';

/**
 * The limits of an explanation. The compiled code reads them on each run, so that one compilation serves all limits.
 */
export interface ExplainLimits {
  /** The maximum number of elements of each array to check. */
  elements: number;
  /** The number of errors after which a loop over elements or members ends. */
  errors: number;
  /** If true, only the errors of the intended alternative of an `anyOf` are reported, if it can be determined. */
  meantOnly: boolean;
}

// The variables of the functions that Ajv generates.
const ERRORS = new Name('errors');
const ALL_ERRORS = new Name('vErrors');
const INSTANCE_PATH = new Name('instancePath');

/**
 * Returns the keywords that replace Ajv's own when a value is explained. They accept the same values. Loops end at the
 * limits, because the sender determines the length of a value. An `anyOf` reports the errors of the intended
 * alternative.
 */
export function explainKeywords(limits: ExplainLimits): readonly CodeKeywordDefinition[] {
  const limitsIn = ({ gen }: KeywordCxt) => gen.scopeValue('obj', { ref: limits });

  const items = (cxt: KeywordCxt): void => {
    const { gen, data, it } = cxt;
    const valid = gen.let('valid', true);
    const limit = limitsIn(cxt);
    const start = gen.const('start', ERRORS);
    const one = gen.name('valid');
    gen.forRange('i', 0, _`Math.min(${data}.length, ${limit}.elements)`, (index) => {
      gen.if(_`${ERRORS} - ${start} >= ${limit}.errors`, () => gen.break());
      cxt.subschema({ keyword: 'items', dataProp: index, dataPropType: Type.Num }, one);
      gen.if(_`!${one}`, () => {
        gen.assign(valid, false);
        if (it.allErrors !== true) gen.break();
      });
    });
    cxt.ok(valid);
  };

  const additionalProperties = (cxt: KeywordCxt): void => {
    const { gen, data, it, parentSchema } = cxt;
    const schema: unknown = cxt.schema;
    const valid = gen.let('valid', true);
    const limit = limitsIn(cxt);
    const known = gen.scopeValue('obj', { ref: new Set(Object.keys((parentSchema['properties'] ?? {}) as object)) });
    const shorten = gen.scopeValue('func', { ref: shortenPaths });
    const start = gen.const('start', ERRORS);
    gen.forOf('key', _`Object.keys(${data})`, (key) => {
      gen.if(_`${ERRORS} - ${start} >= ${limit}.errors`, () => gen.break());
      gen.if(_`!${known}.has(${key})`, () => {
        if (schema === false) {
          gen.assign(valid, false);
          cxt.setParams({ additionalProperty: key });
          cxt.error();
          if (it.allErrors !== true) gen.break();
          return;
        }
        const one = gen.name('valid');
        const before = gen.const('before', ERRORS);
        cxt.subschema({ keyword: 'additionalProperties', dataProp: key, dataPropType: Type.Str }, one);
        gen.if(_`!${one}`, () => {
          if (it.createErrors !== false) gen.code(_`${shorten}(${ALL_ERRORS}, ${before}, ${pathOf(cxt)}, ${key})`);
          gen.assign(valid, false);
          if (it.allErrors !== true) gen.break();
        });
      });
    });
    cxt.ok(valid);
  };

  const choice = (cxt: KeywordCxt): void => {
    const { gen, it, keyword, errsCount: start } = cxt;
    const fitting = gen.let('fitting', 0);
    const ends = gen.const('ends', _`[]`);
    const one = gen.name('valid');
    (cxt.schema as unknown[]).forEach((_branch, index) => {
      cxt.subschema({ keyword, schemaProp: index, compositeRule: true }, one);
      gen.if(one, () => gen.code(_`${fitting}++`));
      gen.code(_`${ends}.push(${ERRORS})`);
    });
    const isOne = keyword === 'oneOf';
    const explainBranches = () => {
      if (isOne) cxt.reset();
      // Inside a `not`, Ajv counts errors without describing them.
      if (isOne || it.createErrors === false) return cxt.error(true);
      const meant = gen.scopeValue('func', { ref: reportMeant });
      const reported = _`${limitsIn(cxt)}.meantOnly && ${meant}(${ALL_ERRORS}, ${start}, ${ends}, ${pathOf(cxt)})`;
      gen.if(
        reported,
        () => gen.assign(ERRORS, _`${ALL_ERRORS}.length`),
        () => cxt.error(true),
      );
    };
    cxt.result(isOne ? _`${fitting} === 1` : _`${fitting} > 0`, () => cxt.reset(), explainBranches);
  };

  return [
    { keyword: 'items', type: 'array', schemaType: ['object', 'boolean'], before: 'uniqueItems', code: items },
    {
      keyword: 'additionalProperties',
      type: 'object',
      schemaType: ['object', 'boolean'],
      before: 'properties',
      code: additionalProperties,
      error: {
        message: '',
        params: ({ params }) => _`{additionalProperty: ${params['additionalProperty']}}`,
      },
    },
    { keyword: 'anyOf', schemaType: 'array', trackErrors: true, before: 'allOf', code: choice },
    { keyword: 'oneOf', schemaType: 'array', trackErrors: true, before: 'allOf', code: choice },
  ];
}

const pathOf = ({ it }: KeywordCxt) => str`${INSTANCE_PATH}${it.errorPath}`;

/** Replaces the name of a member in paths, because the sender chose the name and not every name may be repeated. */
function shortenPaths(errors: ErrorObject[], start: number, at: string, name: string): void {
  const length = at.length + 1 + escapePointer(name).length;
  for (const error of errors.slice(start))
    error.instancePath = `${at}/${plainName(name)}${error.instancePath.slice(length)}`;
}

/**
 * Reduces the errors of several alternatives to those of the intended one; returns false if it cannot be determined.
 */
function reportMeant(errors: ErrorObject[], start: number, ends: readonly number[], at: string): boolean {
  const branches = ends.map((end, index) => errors.slice(ends[index - 1] ?? start, end));
  const meant = meantBranch(branches, at);
  if (meant === undefined) return false;
  errors.splice(start, Number.POSITIVE_INFINITY, ...meant);
  return true;
}

/**
 * Returns the errors of the alternative that a value was meant for: the one of the same type that lacks the fewest
 * required fields. Returns undefined if it cannot be determined.
 */
function meantBranch(branches: readonly ErrorObject[][], at: string): readonly ErrorObject[] | undefined {
  const [nearest, next] = branches
    .map((errors) => ({ errors, distance: distanceOf(errors, at) }))
    .toSorted((a, b) => a.distance - b.distance);
  if (nearest === undefined || !Number.isFinite(nearest.distance)) return undefined;
  return nearest.distance === next?.distance ? undefined : nearest.errors;
}

/** Returns the distance between a value and an alternative; a different type is the greatest distance. */
function distanceOf(errors: readonly ErrorObject[], at: string): number {
  const own = errors.filter(({ instancePath }) => instancePath === at);
  if (own.some(({ keyword }) => keyword === 'type')) return Number.POSITIVE_INFINITY;
  return own.filter(({ keyword }) => keyword === 'required').length;
}
