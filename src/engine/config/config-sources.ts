import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import leven from 'leven';
import { type Document, isMap, isPair, isScalar } from 'yaml';
import { fileReason } from '../../lib/file-reason.ts';
import { packageRoot } from '../../lib/package-root.ts';
import { keysOf } from '../../lib/json-pointer.ts';
import { isPlainObject, membersOf, type PlainObject, withoutNulls } from '../../lib/plain-object.ts';
import { readYaml } from '../../lib/read-yaml.ts';
import { type Fault, syntaxFaults } from '../model/fault.ts';
import { pointerOf } from './configurable.ts';
import type { Product } from './product.ts';
import type { Environment, Override } from './settings.ts';

/** The environment variables that the engine reads, each with the key that it sets. */
const VARIABLES = {
  HOST: '/listen/host',
  PORT: '/listen/port',
  ADMIN_HOST: '/listen/adminHost',
  ADMIN_PORT: '/listen/adminPort',
  UPSTREAM_URL: '/upstream/url',
  UPSTREAM_USERNAME: '/upstream/credentials/username',
  UPSTREAM_PASSWORD: '/upstream/credentials/password',
  UPSTREAM_PASSWORD_FILE: '/upstream/credentials/passwordFile',
  PORTICO_MODE: '/mode',
  PORTICO_ADMIN_TOKEN: '/adminToken',
  PORTICO_ADMIN_TOKEN_FILE: '/adminTokenFile',
  PORTICO_LOG_LEVEL: '/logging/level',
  PORTICO_ROLES: '/roles/file',
  PORTICO_PUBLIC_BASE_PATH: '/publicBasePath',
  PORTICO_RELEASE: '/release',
  // Kubernetes passes the pod's name in this variable if the pod's specification requests it.
  POD_NAME: '/instance',
  PORTICO_INSTANCE: '/instance',
  REDIS_URL: '/redis/url',
  REDIS_URL_FILE: '/redis/urlFile',
} as const;

/** The keys set by variables that are numbers. */
const NUMBERS = new Set<string>(['/listen/port', '/listen/adminPort']);

/** What replaces worker processes, which earlier versions had. */
export const INSTEAD_OF_WORKERS =
  'to use several cores, start several processes with listen.reusePort: true and redis; see docs/deployment.md#several-processes-on-one-port';

/** Returns the variables that the engine and the features read in an environment, each with the key that it sets. */
export function variablesOf({ features }: Product, environment: Environment = {}): Readonly<Record<string, string>> {
  const ofFeatures = features.flatMap((feature) =>
    Object.entries(feature.variables?.(environment) ?? {}).map(([source, key]) => [source, pointerOf(feature, key)]),
  );
  return { ...VARIABLES, ...(Object.fromEntries(ofFeatures) as Record<string, string>) };
}

/**
 * Reads the variables that are set and not empty. An invalid number remains a string, which the schema rejects later. For
 * an option that is true or false, any text other than `true` means false, as for the variables of OpenTelemetry.
 */
export function readEnvironment(
  environment: Environment,
  product: Product,
): { overrides: Override[]; faults: Fault[] } {
  const overrides: Override[] = [];
  for (const [source, pointer] of Object.entries(variablesOf(product, environment))) {
    const text = environment[source];
    if (text === undefined || text === '') continue;
    const type = optionType(product, pointer);
    const isNumber = NUMBERS.has(pointer) || type === 'number' || type === 'integer';
    const number = isNumber && /^\d{1,9}(?:\.\d{1,9})?$/.test(text) ? Number(text) : undefined;
    const value = type === 'boolean' ? text.toLowerCase() === 'true' : (number ?? text);
    overrides.push({ source, kind: 'environment', pointer, value });
  }
  const incomplete = credentialFaults(environment);
  // An incomplete account is omitted here, because it has already been reported and would only cause further errors.
  const complete =
    incomplete.length === 0 ? overrides : overrides.filter(({ source }) => !source.startsWith('UPSTREAM_PASSWORD'));
  return {
    overrides: [...complete, ...serviceKind(complete)],
    faults: [...incomplete, ...misspelledVariables(environment, product)],
  };
}

/** Returns the JSON type of a feature's option, or undefined for a key of the engine. */
function optionType({ features }: Product, pointer: string): unknown {
  const key = keysOf(pointer).at(-1) ?? '';
  const schema: unknown = features.find((feature) => pointerOf(feature, key) === pointer)?.options;
  return membersOf(membersOf(membersOf(schema)['properties'])[key])['type'];
}

// An unknown variable is reported only if its name resembles a known one, because platforms set variables with the same
// prefix. For example, Kubernetes sets PORTICO_SERVICE_HOST.
function misspelledVariables(environment: Environment, product: Product): Fault[] {
  const known = [...Object.keys(variablesOf(product)), 'PORTICO_CONFIG'];
  return Object.keys(environment).flatMap((source) => {
    if (source === 'PORTICO_WORKERS' && environment[source] !== '')
      return [{ source, pointer: '', message: 'is no longer a variable', suggestion: INSTEAD_OF_WORKERS }];
    if (!/^(?:PORTICO|UPSTREAM)_/.test(source) || known.includes(source)) return [];
    const near = known.find((name) => leven(name, source, { maxDistance: 3 }) <= 2);
    if (near === undefined) return [];
    return [{ source, pointer: '', message: 'is not a known variable', suggestion: `did you mean ${near}?` }];
  });
}

// Setting a user name in the environment implies the use of a service account.
function serviceKind(overrides: readonly Override[]): Override[] {
  const found = overrides.find((override) => override.source === 'UPSTREAM_USERNAME');
  return found === undefined ? [] : [{ ...found, pointer: '/upstream/credentials/kind', value: 'service' }];
}

function credentialFaults(environment: Environment): Fault[] {
  // A user name without a password is not an error, because the password may be in the configuration file.
  if (environment['UPSTREAM_USERNAME']) return [];
  return ['UPSTREAM_PASSWORD', 'UPSTREAM_PASSWORD_FILE']
    .filter((source) => environment[source])
    .map((source) => {
      const message = 'is set without UPSTREAM_USERNAME';
      return { source, pointer: '', message, suggestion: 'set UPSTREAM_USERNAME too' };
    });
}

interface ConfigFile {
  /**
   * The file name used in messages: the path relative to the working directory if the file is inside it, or the full
   * path otherwise.
   */
  readonly name: string;
  /** The full path. Undefined if a program passed the configuration. */
  readonly path?: string;
  /** The folder against which relative paths in the file are resolved. */
  readonly folder: string;
  readonly value: PlainObject;
  readonly faults: readonly Fault[];
  /** Returns the file name and the line number of the value at a JSON pointer. */
  locate(pointer: string): string;
}

const MAX_BYTES = 1024 * 1024;

/**
 * Returns the path of the configuration file: the path in `PORTICO_CONFIG`, if set; `config/portico.yaml` or
 * `portico.yaml` in the working directory, if either exists; or the file in this package.
 */
export function configPath(environment: Environment, cwd: string): string {
  const named = environment['PORTICO_CONFIG'];
  if (named !== undefined && named !== '') return resolve(cwd, named);
  const local = [join(cwd, 'config', 'portico.yaml'), join(cwd, 'portico.yaml')].find((path) => existsSync(path));
  return local ?? join(packageRoot, 'config', 'portico.yaml');
}

/** Reads a configuration file. `faults` contains its YAML errors, with line numbers. */
export function readConfigFile(path: string, cwd: string): ConfigFile {
  const near = relative(cwd, path);
  const name = near.startsWith('..') ? path : near;
  const folder = dirname(path);
  const failed = (message: string): ConfigFile => ({
    name,
    path,
    folder,
    value: {},
    faults: [{ source: name, pointer: '', message }],
    locate: () => name,
  });
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    return failed(`cannot be read: ${fileReason(error)}`);
  }
  if (text.length > MAX_BYTES) return failed('is larger than 1 MiB');
  return { ...parseConfig(text, name, folder), path };
}

/**
 * Wraps a configuration passed by a program instead of a file. Relative paths in the configuration are resolved against
 * `folder`.
 */
export function givenConfig(given: PlainObject, folder: string): ConfigFile {
  const name = 'the configuration object';
  return { name, folder, value: given, faults: [], locate: () => name };
}

function parseConfig(text: string, name: string, folder: string): ConfigFile {
  const failed = (faults: readonly Fault[]): ConfigFile => ({ name, folder, value: {}, faults, locate: () => name });
  const reading = readYaml(text);
  if (reading.errors !== undefined) return failed(syntaxFaults(name, reading.errors));
  const { document, lineAt } = reading;
  const value = withoutNulls(reading.value) ?? {};
  if (!isPlainObject(value)) return failed([{ source: name, pointer: '', message: 'must be a mapping of keys' }]);
  const locate = (pointer: string) => {
    const offset = offsetOf(document, pointer);
    return offset === undefined ? name : `${name}:${lineAt(offset)}`;
  };
  return { name, folder, value, faults: [], locate };
}

function offsetOf(document: Document, pointer: string): number | undefined {
  const path = keysOf(pointer);
  const key = path.at(-1);
  const parent = document.getIn(path.slice(0, -1), true);
  if (key === undefined) return undefined;
  if (isMap(parent)) {
    const pair = parent.items.find((item) => isPair(item) && isScalar(item.key) && String(item.key.value) === key);
    if (isScalar(pair?.key)) return pair.key.range?.[0];
  }
  const node = document.getIn(path, true);
  return isScalar(node) || isMap(node) ? node.range?.[0] : undefined;
}
