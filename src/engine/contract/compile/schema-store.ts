import { createHash } from 'node:crypto';
import { Ajv2020, type AnySchemaObject, type Options, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Fault } from '../../model/fault.ts';
import { SCHEMA_BASE } from '../contract-files.ts';
import { EXPECTATIONS, type SchemaFiles } from '../generate/generate-schemas.ts';
import { type Explain, openExplanations } from '../explain/explain-errors.ts';

/** A schema compiled twice: once to decide whether a value is valid, and once to explain why it is not. */
export interface CompiledSchema {
  readonly accepts: (value: unknown) => boolean;
  readonly explain: Explain;
  readonly file: string;
  readonly files: SchemaFiles;
}

/** The generated schemas, each of which can be compiled when needed. */
export interface SchemaStore {
  /** The serialized schemas, in a fixed order. The contract's digest is computed from them. */
  readonly texts: readonly string[];
  /** Compiles the schema with this path. If compilation fails, adds an error to `faults` and returns undefined. */
  readonly compile: (file: string) => CompiledSchema | undefined;
  readonly faults: readonly Fault[];
}

/** Creates a store for generated schemas. Each schema is compiled when first requested. */
export function openSchemaStore(schemas: SchemaFiles): SchemaStore {
  const faults: Fault[] = [];
  const texts = [...schemas.values()].map((schema) => JSON.stringify(schema));
  // Parsed JSON has only own properties, so this option is needed only if a schema contains the name of an inherited
  // property. The option makes checks four times slower.
  const ownProperties = texts.some((text) => INHERITED.test(text));
  const keyOf = closureKeys(schemas, texts, ownProperties);
  let compiler: ReturnType<typeof createCompiler> | undefined;

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
        const compile = () => (compiler ??= createCompiler(schemas, ownProperties))(target, schema);
        return { ...known(keyOf(target), compile), file: target, files: schemas };
      } catch (error) {
        faults.push(fault(file, compileFailure(error)));
        return undefined;
      }
    },
  };
}

/** Describes why a schema cannot be compiled. Other errors of the compiler come from a contradiction within it. */
function compileFailure(error: unknown): string {
  const missing = error instanceof Error && 'missingRef' in error ? String(error.missingRef) : undefined;
  if (missing !== undefined) return `refers to ${missing}, which does not exist`;
  return 'is not a valid JSON Schema: compare it with the schema of another field';
}

/** The two functions compiled from a schema. */
type Compiled = Pick<CompiledSchema, 'accepts' | 'explain'>;

/**
 * All compiled schemas in this process. A contract that differs from a loaded contract in only a few resources, such as
 * a shadow contract, shares most schemas with it. Shared schemas are not compiled again while the loaded contract is in
 * use.
 */
const compiledSchemas = new Map<string, { readonly [Part in keyof Compiled]: WeakRef<Compiled[Part]> }>();

function known(key: string, compile: () => Compiled): Compiled {
  const found = compiledSchemas.get(key);
  const [accepts, explain] = [found?.accepts.deref(), found?.explain.deref()];
  if (accepts !== undefined && explain !== undefined) return { accepts, explain };
  const made = compile();
  compiledSchemas.set(key, { accepts: new WeakRef(made.accepts), explain: new WeakRef(made.explain) });
  return made;
}

/**
 * Returns a function that computes a schema's key from its path. The key is a digest of the schema and of all schemas
 * that it refers to, directly or indirectly, including their paths. Schemas with the same key accept the same values
 * and explain errors in the same way.
 */
function closureKeys(
  schemas: SchemaFiles,
  texts: readonly string[],
  ownProperties: boolean,
): (target: string) => string {
  const files = new Map([...schemas.keys()].map((file, at) => [file, texts[at] ?? '']));
  const references = new Map(
    [...files].map(([file, text]) => [
      file,
      [...text.matchAll(REFERENCE)].map(([, reference = '']) => pathOf(reference, file)),
    ]),
  );
  return (target) => {
    const reached = new Set([target]);
    for (const file of reached) for (const reference of references.get(file) ?? []) reached.add(reference);
    const hash = createHash('sha256').update(`${ownProperties} ${target}`);
    for (const file of [...reached].toSorted()) hash.update(`\0${file}\0${files.get(file) ?? ''}`);
    return hash.digest('base64');
  };
}

// Matches the references in a serialized schema.
const REFERENCE = /"\$ref":"([^"]*)"/g;

/** Returns the path of the schema that a reference in a file points to. */
function pathOf(reference: string, file: string): string {
  const { protocol, pathname } = new URL(reference, SCHEMA_BASE + file);
  return (protocol + pathname).slice(SCHEMA_BASE.length);
}

/** Creates a function that compiles a schema. The function throws an Error if the schema is invalid. */
function createCompiler(
  schemas: SchemaFiles,
  ownProperties: boolean,
): (target: string, schema: AnySchemaObject) => Compiled {
  const resources = [...schemas].filter(([file]) => file.startsWith('resources/')).map(([, schema]) => schema);
  const settings: Options = { ...SETTINGS, ownProperties, schemas: resources };
  const ajv = new Ajv2020(settings);
  const explain = openExplanations(schemas, settings);
  const compiled = new Map<string, ValidateFunction>();
  return (target, schema) => {
    const rules = rulesOf(target, schema);
    const accepts = compiled.get(rules) ?? ajv.getSchema(SCHEMA_BASE + target) ?? ajv.compile(schema);
    compiled.set(rules, accepts);
    return { accepts, explain: explain(target) };
  };
}

// Matches a serialized schema that may contain the name of an inherited property, even if the name is written with
// escapes.
const INHERITED = new RegExp(String.raw`"(?:${Object.getOwnPropertyNames(Object.prototype).join('|')})"|\\u`);

/** The Ajv settings used both to decide whether a value is valid and to explain its errors. */
const SETTINGS: Options = {
  strict: true,
  // These keywords do not affect validity. They are evaluated in advisories.ts.
  keywords: [...EXPECTATIONS],
  // An overlay can add keywords next to a reference, where there is no `type`.
  strictTypes: false,
  // An alternative can require fields that another part of the schema describes.
  strictRequired: false,
  allowUnionTypes: true,
  // Error messages are created in schema-violation.ts.
  messages: false,
  // A test validates the generated schemas, because validating them here would double the startup time.
  validateSchema: false,
  meta: false,
  // Optimizing the generated code has little benefit and takes a third of the compile time.
  code: { optimize: false },
};

const ANNOTATIONS = new Set(['$id', '$comment', 'title', 'description']);

// Keywords that have no effect next to a reference.
const NEUTRAL = new Set([...ANNOTATIONS, '$schema']);

/**
 * Serializes a schema without its id and annotations, so that operations with the same parameters share a validator.
 */
function rulesOf(file: string, schema: AnySchemaObject): string {
  const rules = Object.fromEntries(Object.entries(schema).filter(([keyword]) => !ANNOTATIONS.has(keyword)));
  return JSON.stringify(rules, (key, value: unknown) =>
    key === '$ref' && typeof value === 'string' ? new URL(value, SCHEMA_BASE + file).href : value,
  );
}

/**
 * For a schema that consists only of a reference, returns the path of the referenced schema; for any other schema,
 * returns its own path. All responses that consist of the same resource therefore share a validator.
 */
function targetOf(schemas: ReadonlyMap<string, AnySchemaObject>, file: string): string {
  const { $ref: reference, ...rest } = schemas.get(file) ?? {};
  if (typeof reference !== 'string' || Object.keys(rest).some((keyword) => !NEUTRAL.has(keyword))) return file;
  return new URL(reference, SCHEMA_BASE + file).href.slice(SCHEMA_BASE.length);
}

function fault(file: string, message: string): Fault {
  return { source: `schemas/${file}`, pointer: '', message };
}
