import { Ajv2020, type ErrorObject, type Options, type ValidateFunction } from 'ajv/dist/2020.js';
import { escapePointer } from '../../lib/json-pointer.ts';
import { plainName } from '../../privacy/client-text.ts';
import { SCHEMA_BASE } from '../contract-files.ts';
import { type ExplainLimits, explainKeywords } from './explain-keywords.ts';
import type { Explain, SchemaError, SchemaFiles } from './schema-errors.ts';

/** The first elements of an array are enough to find the cause; no configuration collects more than 1000 errors. */
const USUAL: ExplainLimits = { elements: 25, errors: 1000, meantOnly: true };

/** Used if the first elements of the arrays are valid. */
const FIRST_ERROR: ExplainLimits = { elements: Number.POSITIVE_INFINITY, errors: 1, meantOnly: false };

/**
 * Returns a function that compiles the explanation of the schema with a path. Ajv interprets the schema with the same
 * `settings` as for the verdict, but continues after the first error.
 */
export function openExplanations(files: SchemaFiles, settings: Options): (file: string) => Explain {
  const limits: ExplainLimits = { ...USUAL };
  // References are not inlined, so there is less to compile.
  const ajv = new Ajv2020({ ...settings, allErrors: true, verbose: true, inlineRefs: false });
  const keywords = explainKeywords(limits);
  for (const { keyword } of keywords) ajv.removeKeyword(String(keyword));
  for (const keyword of keywords) ajv.addKeyword(keyword);
  // Created when the first value is explained, because more schemas may be compiled until then.
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
    // Errors contain the value, and every validator retains its last errors.
    for (const one of compiled) one.errors = null;
    return found;
  };

  return (file) => {
    const validate = ajv.getSchema(SCHEMA_BASE + file) ?? ajv.compile(files.get(file) ?? true);
    return (value) => {
      const errors = run(validate, value, USUAL);
      if (errors.length > 0) return errors;
      const [first] = run(validate, value, FIRST_ERROR);
      // A value that cannot be explained is still invalid.
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

/** Returns the location of each schema: its file and a JSON pointer into it. */
function placesIn(files: SchemaFiles): ReadonlyMap<unknown, string> {
  const places = new Map<unknown, string>();
  const visit = (value: unknown, place: string): void => {
    if (typeof value !== 'object' || value === null) return;
    places.set(value, place);
    for (const [key, child] of Object.entries(value)) visit(child, `${place}/${escapePointer(key)}`);
  };
  for (const [file, schema] of files) visit(schema, `${file}#`);
  return places;
}
