import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import { cacheOptionsSchema, operationCacheSchema } from '../cache/cache-options.ts';
import { contractOptionsSchema } from '../contract/contract-options.ts';
import { identityOptionsSchema } from '../identity/identity-options.ts';
import { closestName } from '../../lib/closest-name.ts';
import { INSTEAD_OF_WORKERS } from './config-sources.ts';
import { operatorsOptions } from '../identity/operators-options.ts';
import { asFileSchema, pointerOf } from './configurable.ts';
import type { Product } from './product.ts';
import type { ConfigProblem } from './settings.ts';
import { escapePointer } from '../../lib/json-pointer.ts';
import { meantKey, schemaMessage, withoutMisspelled } from '../../lib/schema-message.ts';
import { isPlainObject, type PlainObject, withValueAt } from '../../lib/plain-object.ts';
import { MODE_NAMES } from '../model/modes.ts';
import { operationPagingSchema, pagingOptionsSchema } from '../paging/paging-options.ts';
import { permissionsOptionsSchema } from '../permissions/permissions-options.ts';
import { rolesOptionsSchema } from '../permissions/roles-options.ts';
import { redisOptionsSchema } from '../sharing/redis/redis-options.ts';
import { LOG_LEVELS } from '../telemetry/logs.ts';
import { upstreamOptionsSchema } from '../upstream/upstream-options.ts';
import { checksSchema, errorsSchema, listenOptionsSchema, undocumentedSchema } from './general-options.ts';

const closed = (properties: object, description?: string) => ({
  type: 'object',
  ...(description !== undefined && { description }),
  additionalProperties: false,
  properties,
});

/**
 * Returns the JSON Schema (2020-12) for the configuration file, composed of the schemas for the engine's parts and for
 * the features.
 */
export function configSchema({ features, profile }: Product): PlainObject {
  const engine = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'portico:/config/portico.schema.json',
    title: 'Configuration of Portico',
    ...closed({
      mode: {
        enum: MODE_NAMES,
        description: 'The preset for all checks: `observe`, `staging` or `strict`.',
      },
      checks: checksSchema,
      errors: errorsSchema,
      publicBasePath: {
        type: 'string',
        pattern: '^(?:/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*$',
        description: `The path prefix that clients use before ${profile.basePath}, for example /qa; without a trailing slash.`,
      },
      publicOrigin: {
        type: 'string',
        pattern: String.raw`^https?://(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?$`,
        description:
          "Scheme and host that clients use, for example https://qa.example.org; without a path. Sent to the upstream as X-Forwarded-Proto and X-Forwarded-Host, and used by `rewriteUrls`. If it is not set, those of the client's request are sent, except when the response will be stored.",
      },
      listen: listenOptionsSchema,
      adminToken: {
        type: 'string',
        minLength: 8,
        description:
          'Token for purging and for changes in the console. Required with a real upstream if the admin side is not on a loopback address; it then needs at least 16 characters, 8 of them different.',
      },
      adminTokenFile: {
        type: 'string',
        minLength: 1,
        description: 'File whose first line is the `adminToken`, relative to the configuration file.',
      },
      operators: asFileSchema(operatorsOptions),
      readableSecrets: {
        enum: ['refuse', 'allow'],
        description:
          'Whether Portico starts with a real upstream if every user of the machine can read a file that contains a secret.',
      },
      upstream: upstreamOptionsSchema,
      rewriteUrls: {
        type: 'boolean',
        description:
          'Whether absolute legacy addresses in bodies are replaced with the public address. Otherwise, they are only counted.',
      },
      authentication: identityOptionsSchema,
      roles: rolesOptionsSchema,
      permissions: permissionsOptionsSchema,
      parameters: closed({
        allow: {
          type: 'object',
          description: 'Query parameters to allow in addition to those of the contract, by operation id.',
          additionalProperties: { type: 'array', items: { type: 'string', minLength: 1, maxLength: 100 } },
        },
      }),
      pageBounds: pagingOptionsSchema,
      cache: cacheOptionsSchema,
      contract: contractOptionsSchema,
      release: {
        type: 'string',
        pattern: '^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$',
        description:
          "Label of the upstream's release, by which violations and statistics are counted; see docs/ledger.md#releases. Change it when you deploy a release, and reload.",
      },
      instance: {
        type: 'string',
        pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$',
        description:
          'Name of this instance among the gateways that share Redis, and in exported spans. By default, the host name and four random characters.',
      },
      redis: redisOptionsSchema,
      undocumented: undocumentedSchema(profile.basePath),
      contractStatusHeader: {
        type: 'boolean',
        description: 'Whether responses have the header Contract-Status (docs/ledger.md#contract-status).',
      },
      proxyStatusHeader: {
        type: 'boolean',
        description:
          'Whether error responses that the upstream causes have the header Proxy-Status (docs/errors.md#the-proxy-status-header).',
      },
      logging: closed({
        level: { enum: LOG_LEVELS, description: 'The lowest level that is logged.' },
        principalNames: {
          type: 'boolean',
          description: "Whether the log contains callers' names instead of keyed hashes.",
        },
      }),
      operations: {
        type: 'object',
        description:
          'Settings for single operations, by operation id, which override the others: `checks`, `errors`, `cache` and `pageBounds`.',
        additionalProperties: closed({
          checks: checksSchema,
          errors: errorsSchema,
          cache: operationCacheSchema,
          pageBounds: operationPagingSchema,
        }),
      },
    }),
  };
  return features.reduce<PlainObject>((schema, feature) => {
    if (feature.options === undefined) return schema;
    const pointer = pointerOf(feature).replaceAll('/', '/properties/');
    return withValueAt(schema, pointer, asFileSchema(feature.options));
  }, engine);
}

const MAX_PROBLEMS = 100;

/** The keys that earlier versions had, each with what to use instead. */
const REMOVED: Readonly<Record<string, string>> = {
  '/workers': INSTEAD_OF_WORKERS,
};

const compile = (schema: PlainObject) =>
  new Ajv2020({
    allErrors: true,
    strict: true,
    strictTypes: false,
    strictRequired: false,
    verbose: true,
    ownProperties: true,
    formats: { regex: isRegex },
    // The schema never changes, so a test validates it. Validating it here would double the compile time.
    validateSchema: false,
    meta: false,
    code: { optimize: false },
  }).compile(schema);

/**
 * Returns the schema without the schemas of keys that the value does not have. Their names remain, so that unknown keys
 * are recognized. Compiling the whole schema takes a fifth of the startup time, and most configurations use few keys.
 */
function schemaFor(value: unknown, schema: unknown): unknown {
  if (!isPlainObject(schema) || !isPlainObject(value) || !isPlainObject(schema['properties'])) return schema;
  const properties = Object.entries(schema['properties']).map(([key, below]) => [
    key,
    Object.hasOwn(value, key) ? schemaFor(value[key], below) : true,
  ]);
  return { ...schema, properties: Object.fromEntries(properties) as PlainObject };
}

/** The most recently compiled schema. A configuration is usually checked again with the same keys. */
let latest: { readonly text: string; readonly validate: ReturnType<typeof compile> } | undefined;

function validatorFor(value: unknown, product: Product): ReturnType<typeof compile> {
  const schema = schemaFor(value, configSchema(product)) as PlainObject;
  const text = JSON.stringify(schema);
  if (latest?.text !== text) latest = { text, validate: compile(schema) };
  return latest.validate;
}

/** Checks a configuration against the schema. Returns the problems, up to a maximum number. */
export function checkConfig(value: unknown, product: Product): readonly ConfigProblem[] {
  const validate = validatorFor(value, product);
  if (validate(value)) return [];
  const errors = validate.errors ?? [];
  return withoutMisspelled(relevantErrors(errors), errors)
    .slice(0, MAX_PROBLEMS)
    .map((error) => toProblem(error, product));
}

function isRegex(text: string): boolean {
  try {
    return new RegExp(text, 'iu') instanceof RegExp;
  } catch {
    return false;
  }
}

// If a value matches none of a schema's alternatives, only the errors for the intended alternative are useful: the one
// whose constants the value matches.
function relevantErrors(errors: readonly ErrorObject[]): ErrorObject[] {
  const choices = errors.filter((error) => error.keyword === 'oneOf' || error.keyword === 'anyOf');
  let relevant = [...errors];
  for (const choice of choices) {
    const branchOf = (error: ErrorObject) =>
      error !== choice && error.schemaPath.startsWith(`${choice.schemaPath}/`)
        ? error.schemaPath.slice(choice.schemaPath.length + 1).split('/')[0]
        : undefined;
    const branches = Map.groupBy(
      relevant.filter((error) => branchOf(error) !== undefined && error.instancePath.startsWith(choice.instancePath)),
      (error) => branchOf(error),
    );
    const intended = [...branches.values()].filter((branch) => !branch.some((error) => isMismatch(error, choice)));
    const inside = new Set([...branches.values()].flat());
    // If the value matches several alternatives, the intended one cannot be determined.
    const severalMatch = Array.isArray(choice.params['passingSchemas']);
    const only = intended.length === 1 && !severalMatch ? intended[0] : undefined;
    relevant = relevant
      .filter((error) => !inside.has(error) && (error !== choice || only === undefined))
      .concat(only ?? []);
  }
  return relevant;
}

function isMismatch(error: ErrorObject, choice: ErrorObject): boolean {
  return error.keyword === 'const' || (error.keyword === 'type' && error.instancePath === choice.instancePath);
}

function toProblem(error: ErrorObject, product: Product): ConfigProblem {
  const params: Record<string, unknown> = error.params;
  if (error.keyword === 'additionalProperties') {
    const key = String(params['additionalProperty']);
    const pointer = `${error.instancePath}/${escapePointer(key)}`;
    const replaced = REMOVED[pointer];
    if (replaced !== undefined) return { pointer, message: 'is no longer a key', suggestion: replaced };
    const near = meantKey(error);
    const elsewhere = near ?? placeOfKey(key, configSchema(product));
    const meant = near === undefined ? `/${elsewhere?.replaceAll('.', '/')}` : `${error.instancePath}/${near}`;
    return {
      pointer,
      message: 'is not a known key',
      ...(elsewhere !== undefined && { suggestion: `did you mean ${elsewhere}?`, meant }),
    };
  }
  const words = isPlainObject(error.params) ? allowedWords(params) : undefined;
  const near = words !== undefined && typeof error.data === 'string' ? closestName(error.data, words) : undefined;
  return {
    pointer: error.instancePath,
    message: words === undefined ? plainMessage(error) : `must be one of ${words.join(', ')}`,
    ...(near !== undefined && { suggestion: `did you mean ${near}?` }),
  };
}

function allowedWords(params: Readonly<Record<string, unknown>>): string[] | undefined {
  const values = params['allowedValues'];
  return Array.isArray(values) ? values.map(String) : undefined;
}

function plainMessage(error: ErrorObject): string {
  const parent: unknown = error.parentSchema;
  const schema = isPlainObject(parent) ? parent : {};
  if (error.keyword === 'oneOf' && Array.isArray(schema['oneOf'])) {
    const keys = schema['oneOf'].flatMap((one: unknown) => (isPlainObject(one) ? one['required'] : undefined));
    if (keys.every((key) => typeof key === 'string')) return `requires exactly one of ${[...new Set(keys)].join(', ')}`;
  }
  if (error.keyword === 'type' && schema['type'] === 'integer') {
    const bounds = [bound('from', schema['minimum']), bound('to', schema['maximum'])];
    return ['must be a whole number', ...bounds].join('');
  }
  if (error.keyword === 'pattern' && typeof schema['description'] === 'string')
    return `has the wrong format. ${schema['description']}`;
  return schemaMessage(error);
}

const bound = (word: string, value: unknown) => (typeof value === 'number' ? ` ${word} ${value}` : '');

// Returns the correct location for a misplaced key. For example, it returns `listen.port` for the `port` key at the top
// level.
function placeOfKey(key: string, schema: Readonly<Record<string, unknown>>, trail = ''): string | undefined {
  const properties = schema['properties'];
  if (!isPlainObject(properties)) return undefined;
  for (const [name, child] of Object.entries(properties)) {
    if (name === key && trail !== '') return `${trail}${name}`;
    const below = isPlainObject(child) ? placeOfKey(key, child, `${trail}${name}.`) : undefined;
    if (below !== undefined) return below;
  }
  return undefined;
}
