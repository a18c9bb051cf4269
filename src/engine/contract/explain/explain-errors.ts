import {
  _,
  Ajv2020,
  type CodeKeywordDefinition,
  type ErrorObject,
  type KeywordCxt,
  Name,
  type Options,
  str,
  type ValidateFunction,
} from 'ajv/dist/2020.js';
import { escapePointer } from '../../../lib/json-pointer.ts';
import { plainName } from '../../privacy/shown-name.ts';
import { SCHEMA_BASE } from '../contract-files.ts';
import { placesIn, type SchemaFiles } from '../generate/generate-schemas.ts';

/** An error found by validating a value against a schema. */
export interface SchemaError {
  readonly keyword: string;
  /** The JSON pointer to the invalid part of the value. */
  readonly at: string;
  /** The schema that contains the keyword, as a file and a JSON pointer into it. */
  readonly schema: string;
  /** The keyword's value in the schema. */
  readonly limit: unknown;
}

/** Returns the errors for an invalid value, in the order in which Ajv reports them. */
export type Explain = (value: unknown) => readonly SchemaError[];

/**
 * The default limits. Only the first elements of an array are examined, because they usually show what is wrong. The
 * limit on errors is the highest that can be configured.
 */
const USUAL: ExplainLimits = { elements: 25, errors: 1000, intendedOnly: true };

/** The limits for a second attempt, which is made if the first attempt finds no errors. */
const FIRST_ERROR: ExplainLimits = { elements: Number.POSITIVE_INFINITY, errors: 1, intendedOnly: false };

/**
 * Returns a function that compiles the schema with a given path into a function that explains errors. `settings` are
 * the validators' Ajv settings. They are used unchanged, except that explanations do not stop at the first error.
 */
export function openExplanations(files: SchemaFiles, settings: Options): (file: string) => Explain {
  const limits: ExplainLimits = { ...USUAL };
  // References are not inlined, which reduces the amount of code to compile.
  const ajv = new Ajv2020({ ...settings, allErrors: true, verbose: true, inlineRefs: false });
  const keywords = explainKeywords(limits);
  for (const { keyword } of keywords) ajv.removeKeyword(String(keyword));
  for (const keyword of keywords) ajv.addKeyword(keyword);
  // The schemas' locations are determined the first time a value is explained, because more schemas may be compiled
  // before then.
  let places: ReadonlyMap<unknown, string> | undefined;
  let compiled: readonly ValidateFunction[] | undefined;

  const run = (validate: ValidateFunction, value: unknown, within: ExplainLimits): SchemaError[] => {
    places ??= placesIn(files);
    compiled ??= validatorsOf(ajv);
    Object.assign(limits, within);
    validate(value);
    const found: SchemaError[] = [];
    for (const error of validate.errors ?? []) {
      const schema = places.get(error.parentSchema);
      if (schema !== undefined && found.length < within.errors) found.push(toError(error, schema));
    }
    // Validators store their last errors, which contain parts of the value, so the errors are cleared.
    for (const one of compiled) one.errors = null;
    return found;
  };

  return (file) => {
    const validate = ajv.getSchema(SCHEMA_BASE + file) ?? ajv.compile(files.get(file) ?? true);
    return (value) => {
      const errors = run(validate, value, USUAL);
      if (errors.length > 0) return errors;
      const [first] = run(validate, value, FIRST_ERROR);
      // A value is still invalid if none of its errors can be explained.
      return [first ?? { keyword: 'schema', at: '', schema: `${file}#`, limit: undefined }];
    };
  };
}

function validatorsOf({ schemas, refs }: Ajv2020): ValidateFunction[] {
  const known = new Set([...Object.values(schemas), ...Object.values(refs)]);
  return [...known].flatMap((one) => (typeof one === 'object' ? (one.validate ?? []) : []));
}

function toError({ keyword, instancePath, params, schema: limit }: ErrorObject, schema: string): SchemaError {
  if (keyword === 'required') {
    const missing = String(params['missingProperty']);
    return { keyword, at: `${instancePath}/${escapePointer(missing)}`, schema, limit: missing };
  }
  if (keyword === 'additionalProperties') {
    const name = String(params['additionalProperty']);
    return { keyword, at: `${instancePath}/${plainName(name)}`, schema, limit: name };
  }
  return { keyword, at: instancePath, schema, limit };
}

/**
 * The limits on an explanation. The compiled code reads the limits whenever it runs, so schemas do not have to be
 * recompiled when a limit changes.
 */
interface ExplainLimits {
  /** The maximum number of elements checked in each array. */
  elements: number;
  /** The number of errors after which a loop over elements or members stops. */
  errors: number;
  /** True if only the intended alternative's errors are reported for an `anyOf` that has an intended alternative. */
  intendedOnly: boolean;
}

// The names of variables in the functions that Ajv generates.
const ERRORS = new Name('errors');
const ALL_ERRORS = new Name('vErrors');
const INSTANCE_PATH = new Name('instancePath');

/**
 * Returns keywords that replace Ajv's own when errors are explained. They accept the same values as the originals.
 * However, their loops stop at the limits, because the sender determines the size of a value, and `anyOf` reports only
 * the errors of the intended alternative.
 */
function explainKeywords(limits: ExplainLimits): readonly CodeKeywordDefinition[] {
  const limitsIn = ({ gen }: KeywordCxt) => gen.scopeValue('obj', { ref: limits });

  const items = (cxt: KeywordCxt): void => {
    const { gen, data, it } = cxt;
    const valid = gen.let('valid', true);
    const limit = limitsIn(cxt);
    const start = gen.const('start', ERRORS);
    const one = gen.name('valid');
    gen.forRange('i', 0, _`Math.min(${data}.length, ${limit}.elements)`, (index) => {
      gen.if(_`${ERRORS} - ${start} >= ${limit}.errors`, () => gen.break());
      // Ajv writes the name of a member into a path as a string.
      cxt.subschema({ keyword: 'items', dataProp: gen.const('key', _`String(${index})`) }, one);
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
        cxt.subschema({ keyword: 'additionalProperties', dataProp: key }, one);
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
    const matching = gen.let('matching', 0);
    const ends = gen.const('ends', _`[]`);
    const one = gen.name('valid');
    (cxt.schema as unknown[]).forEach((_branch, index) => {
      cxt.subschema({ keyword, schemaProp: index, compositeRule: true }, one);
      gen.if(one, () => gen.code(_`${matching}++`));
      gen.code(_`${ends}.push(${ERRORS})`);
    });
    const isOne = keyword === 'oneOf';
    const explainBranches = () => {
      if (isOne) cxt.reset();
      // Inside a `not`, Ajv counts errors without describing them.
      if (isOne || it.createErrors === false) return cxt.error(true);
      const intended = gen.scopeValue('func', { ref: reportIntended });
      const reported = _`${limitsIn(cxt)}.intendedOnly && ${intended}(${ALL_ERRORS}, ${start}, ${ends}, ${pathOf(cxt)})`;
      gen.if(
        reported,
        () => gen.assign(ERRORS, _`${ALL_ERRORS}.length`),
        () => cxt.error(true),
      );
    };
    cxt.result(isOne ? _`${matching} === 1` : _`${matching} > 0`, () => cxt.reset(), explainBranches);
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

/** Masks a member's name in error paths if it must not be shown. Senders can choose any name. */
function shortenPaths(errors: ErrorObject[], start: number, at: string, name: string): void {
  const length = at.length + 1 + escapePointer(name).length;
  for (const error of errors.slice(start))
    error.instancePath = `${at}/${plainName(name)}${error.instancePath.slice(length)}`;
}

/**
 * Reduces the errors of several alternatives to those of the intended alternative. Returns false if the intended
 * alternative cannot be determined.
 */
function reportIntended(errors: ErrorObject[], start: number, ends: readonly number[], at: string): boolean {
  const branches = ends.map((end, index) => errors.slice(ends[index - 1] ?? start, end));
  const intended = intendedBranch(branches, at);
  if (intended === undefined) return false;
  errors.splice(start, Number.POSITIVE_INFINITY, ...intended);
  return true;
}

/**
 * Returns the errors of the alternative that was probably intended: among the alternatives with the value's type, the
 * one with the fewest missing required fields. Returns undefined if no single alternative fits best.
 */
function intendedBranch(branches: readonly ErrorObject[][], at: string): readonly ErrorObject[] | undefined {
  const [nearest, next] = branches
    .map((errors) => ({ errors, distance: distanceOf(errors, at) }))
    .toSorted((a, b) => a.distance - b.distance);
  if (nearest === undefined || !Number.isFinite(nearest.distance)) return undefined;
  return nearest.distance === next?.distance ? undefined : nearest.errors;
}

/** Returns how far a value is from matching an alternative. The distance is infinite if the types differ. */
function distanceOf(errors: readonly ErrorObject[], at: string): number {
  const own = errors.filter(({ instancePath }) => instancePath === at);
  if (own.some(({ keyword }) => keyword === 'type')) return Number.POSITIVE_INFINITY;
  return own.filter(({ keyword }) => keyword === 'required').length;
}
