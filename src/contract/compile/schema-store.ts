import { Ajv2020, type AnySchemaObject, type Options, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Fault } from '../../model/fault.ts';
import { SCHEMA_BASE } from '../contract-files.ts';
import { openExplanations } from '../explain/explain-errors.ts';
import type { Explain, SchemaFiles } from '../explain/schema-errors.ts';

/** One schema, compiled twice: to decide whether a value is valid, and to explain why it is not. */
export interface CompiledSchema {
  readonly accepts: (value: unknown) => boolean;
  readonly explain: Explain;
  readonly file: string;
  readonly files: SchemaFiles;
}

/** The generated schemas, compiled one by one at startup. */
export interface SchemaStore {
  /** The schemas as texts in a fixed order, for the digest. */
  readonly texts: readonly string[];
  /** Compiles the schema with this path; if that fails, adds a fault and returns undefined. */
  readonly compile: (file: string) => CompiledSchema | undefined;
  readonly faults: readonly Fault[];
}

/** Creates a store of generated schemas, by path. Each schema is compiled when it is first requested. */
export function openSchemaStore(schemas: SchemaFiles): SchemaStore {
  const faults: Fault[] = [];
  const texts = [...schemas.values()].map((schema) => JSON.stringify(schema));
  const resources = [...schemas].filter(([file]) => file.startsWith('resources/')).map(([, schema]) => schema);
  const settings: Options = {
    ...SETTINGS,
    // All members of parsed JSON are own properties, so this option is needed only if a schema uses an inherited name.
    // It takes three quarters of the time of a check.
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

// Matches a schema that may name an inherited property, including one written with escapes.
const INHERITED = new RegExp(String.raw`"(?:${Object.getOwnPropertyNames(Object.prototype).join('|')})"|\\u`);

/** The settings of both compilations. */
const SETTINGS: Options = {
  strict: true,
  // Keywords that an overlay adds beside a reference have no type of their own.
  strictTypes: false,
  allowUnionTypes: true,
  // The messages are in schema-violation.ts.
  messages: false,
  // The schemas are generated, and a test validates them. Validating them again would double the startup time.
  validateSchema: false,
  meta: false,
  // Optimizing the generated code saves little and takes a third of the compile time.
  code: { optimize: false },
};

const ANNOTATIONS = new Set(['$id', '$comment', 'title', 'description']);

// Keywords that change nothing beside a reference.
const NEUTRAL = new Set([...ANNOTATIONS, '$schema']);

/**
 * Returns a schema's rules as text. Schemas with equal rules share a validator: many operations have the same
 * parameters.
 */
function rulesOf(file: string, schema: AnySchemaObject): string {
  const rules = Object.fromEntries(Object.entries(schema).filter(([keyword]) => !ANNOTATIONS.has(keyword)));
  return JSON.stringify(rules, (key, value: unknown) =>
    key === '$ref' && typeof value === 'string' ? new URL(value, SCHEMA_BASE + file).href : value,
  );
}

/**
 * Returns the referenced schema of a schema that is only a reference, so that such responses share the resource's
 * validator.
 */
function targetOf(schemas: ReadonlyMap<string, AnySchemaObject>, file: string): string {
  const { $ref: reference, ...rest } = schemas.get(file) ?? {};
  if (typeof reference !== 'string' || Object.keys(rest).some((keyword) => !NEUTRAL.has(keyword))) return file;
  return new URL(reference, SCHEMA_BASE + file).href.slice(SCHEMA_BASE.length);
}

function fault(file: string, message: string): Fault {
  return { source: `schemas/${file}`, pointer: '', message };
}
