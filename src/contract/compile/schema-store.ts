import { Ajv2020, type AnySchemaObject, type Options, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Fault } from '../../model/fault.ts';
import { SCHEMA_BASE } from '../contract-files.ts';
import { openExplanations } from '../explain/explain-errors.ts';
import type { Explain, SchemaFiles } from '../explain/schema-errors.ts';

/** A schema that is compiled twice: once to decide whether a value is valid, and once to explain why it is not. */
export interface CompiledSchema {
  readonly accepts: (value: unknown) => boolean;
  readonly explain: Explain;
  readonly file: string;
  readonly files: SchemaFiles;
}

/** The generated schemas. They are compiled one at a time during startup. */
export interface SchemaStore {
  /** The schemas as texts in a fixed order. The contract's digest is computed from them. */
  readonly texts: readonly string[];
  /** Compiles the schema with this path. If this fails, it adds a fault and returns undefined. */
  readonly compile: (file: string) => CompiledSchema | undefined;
  readonly faults: readonly Fault[];
}

/** Creates a store of generated schemas by path. Each schema is compiled the first time it is requested. */
export function openSchemaStore(schemas: SchemaFiles): SchemaStore {
  const faults: Fault[] = [];
  const texts = [...schemas.values()].map((schema) => JSON.stringify(schema));
  const resources = [...schemas].filter(([file]) => file.startsWith('resources/')).map(([, schema]) => schema);
  const settings: Options = {
    ...SETTINGS,
    // All members of parsed JSON are own properties. This option is therefore needed only if a schema contains the name
    // of an inherited property. With the option, a check takes four times as long.
    ownProperties: texts.some((text) => INHERITED.test(text)),
    schemas: resources,
  };
  const ajv = new Ajv2020(settings);
  const explain = openExplanations(schemas, settings);
  const compiled = new Map<string, ValidateFunction>();

  return {
    texts,
    faults,
    compile: (file) => {
      const target = targetOf(schemas, file);
      const schema = schemas.get(target);
      if (schema === undefined) {
        faults.push(fault(file, 'is not among the generated schemas'));
        return undefined;
      }
      try {
        const rules = rulesOf(target, schema);
        const accepts = compiled.get(rules) ?? ajv.getSchema(SCHEMA_BASE + target) ?? ajv.compile(schema);
        compiled.set(rules, accepts);
        return { accepts, explain: explain(target), file: target, files: schemas };
      } catch (error) {
        faults.push(fault(file, error instanceof Error ? error.message : 'cannot be compiled'));
        return undefined;
      }
    },
  };
}

// Matches a schema that may contain the name of an inherited property. The name may be written with escapes.
const INHERITED = new RegExp(String.raw`"(?:${Object.getOwnPropertyNames(Object.prototype).join('|')})"|\\u`);

/** The Ajv settings that both compilations use. */
const SETTINGS: Options = {
  strict: true,
  // The keywords that an overlay adds next to a reference have no type.
  strictTypes: false,
  allowUnionTypes: true,
  // The messages are written in schema-violation.ts.
  messages: false,
  // A test validates the generated schemas. Validating them again here would double the startup time.
  validateSchema: false,
  meta: false,
  // Optimizing the generated code has little benefit and takes a third of the compile time.
  code: { optimize: false },
};

const ANNOTATIONS = new Set(['$id', '$comment', 'title', 'description']);

// These keywords have no effect next to a reference.
const NEUTRAL = new Set([...ANNOTATIONS, '$schema']);

/**
 * Returns the rules of a schema as text. Schemas with the same rules share a validator, because many operations have
 * the same parameters.
 */
function rulesOf(file: string, schema: AnySchemaObject): string {
  const rules = Object.fromEntries(Object.entries(schema).filter(([keyword]) => !ANNOTATIONS.has(keyword)));
  return JSON.stringify(rules, (key, value: unknown) =>
    key === '$ref' && typeof value === 'string' ? new URL(value, SCHEMA_BASE + file).href : value,
  );
}

/**
 * Returns the path of the referenced schema if a schema consists only of a reference. Otherwise, returns the schema's
 * own path. Responses with the same resource thus share a validator.
 */
function targetOf(schemas: ReadonlyMap<string, AnySchemaObject>, file: string): string {
  const { $ref: reference, ...rest } = schemas.get(file) ?? {};
  if (typeof reference !== 'string' || Object.keys(rest).some((keyword) => !NEUTRAL.has(keyword))) return file;
  return new URL(reference, SCHEMA_BASE + file).href.slice(SCHEMA_BASE.length);
}

function fault(file: string, message: string): Fault {
  return { source: `schemas/${file}`, pointer: '', message };
}
