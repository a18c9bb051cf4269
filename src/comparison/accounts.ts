import { dirname, resolve } from 'node:path';
import { type Fault, StartFault, syntaxFaults } from '../engine/model/fault.ts';
import { toAuthorization } from '../lib/basic-credentials.ts';
import { closestName } from '../lib/closest-name.ts';
import { isPlainObject, type PlainObject } from '../lib/plain-object.ts';
import { readYaml } from '../lib/read-yaml.ts';
import { readSecretFile } from '../lib/secret-file.ts';

/** Where passwords come from. Paths are resolved by `file`. */
export interface PasswordSources {
  /** The environment. Undefined if passwords come only from files. */
  readonly env: Readonly<Record<string, string | undefined>> | undefined;
  readonly file: (path: string) => string;
  /** Returns why a file must not be used, although it can be read. */
  readonly problemOf?: ((path: string) => Pick<Fault, 'message' | 'suggestion'> | undefined) | undefined;
}

/** Takes an error in a file. */
export type ReportFault = (pointer: string, message: string, suggestion?: string) => void;

/** Creates a function that adds errors in a file to a list. */
export const faultsOf =
  (source: string, faults: Fault[]): ReportFault =>
  (pointer, message, suggestion) =>
    void faults.push({ source, pointer, message, ...(suggestion !== undefined && { suggestion }) });

/** Reports the keys of an object that nobody knows. */
export function unknownKeys(object: PlainObject, known: readonly string[], pointer: string, fault: ReportFault): void {
  for (const key of Object.keys(object))
    if (!known.includes(key))
      fault(`${pointer}/${key}`, 'unknown key', closestName(key, known) ?? `one of ${known.join(', ')}`);
}

/**
 * Reads an account on a server: `user`, and `passwordFile` or `passwordEnv`. Returns the value of `Authorization`, or
 * undefined after reporting an error. `others` are further keys that the object may have.
 */
export function accountAuthorization(
  value: unknown,
  pointer: string,
  { env, file, problemOf }: PasswordSources,
  fault: ReportFault,
  others: readonly string[] = [],
): string | undefined {
  const sources = env === undefined ? ['passwordFile'] : ['passwordEnv', 'passwordFile'];
  if (!isPlainObject(value)) {
    fault(pointer, `must be a mapping with user and ${sources.join(' or ')}`);
    return undefined;
  }
  unknownKeys(value, [...others, 'user', ...sources], pointer, fault);
  const { user, passwordEnv, passwordFile } = value;
  if (typeof user !== 'string' || user === '' || user.includes(':')) {
    fault(`${pointer}/user`, 'must be a user name without a colon');
    return undefined;
  }
  const isVariable = env !== undefined && typeof passwordEnv === 'string';
  if (isVariable === (typeof passwordFile === 'string')) {
    fault(pointer, env === undefined ? 'must have passwordFile' : 'must have either passwordEnv or passwordFile');
    return undefined;
  }
  if (isVariable) {
    const password = env[passwordEnv];
    if (password !== undefined && password !== '') return toAuthorization(user, password);
    fault(`${pointer}/passwordEnv`, `the variable ${passwordEnv} is not set`);
    return undefined;
  }
  const path = file(String(passwordFile));
  const problem = problemOf?.(path);
  if (problem !== undefined) fault(`${pointer}/passwordFile`, problem.message, problem.suggestion);
  const secret = readSecretFile(path);
  if ('text' in secret) return toAuthorization(user, secret.text);
  fault(`${pointer}/passwordFile`, secret.fault);
  return undefined;
}

/** Reads the list under a key of a YAML text. Throws a StartFault if there is no such list, or if it is too long. */
export function readList(text: string, source: string, key: string, max: number, page: string): readonly unknown[] {
  const reading = readYaml(text);
  if (reading.errors !== undefined) throw new StartFault(syntaxFaults(source, reading.errors, `see ${page}`));
  const list = isPlainObject(reading.value) ? reading.value[key] : undefined;
  if (Array.isArray(list) && list.length > 0 && list.length <= max) return list as unknown[];
  throw new StartFault([{ source, pointer: `/${key}`, message: `must be a list of 1 to ${max} ${key}` }]);
}

const MAX_ACCOUNTS = 1_000;

/**
 * Reads which account on the second server stands for which caller, as `caller`, `user` and `passwordFile`. Paths are
 * relative to the file. Returns the values of `Authorization` by the callers' names. Throws a StartFault that lists all
 * errors.
 */
export function readAccounts(
  text: string,
  source: string,
  problemOf?: PasswordSources['problemOf'],
): ReadonlyMap<string, string> {
  const faults: Fault[] = [];
  const fault = faultsOf(source, faults);
  const found = new Map<string, string>();
  for (const [index, item] of readList(text, source, 'accounts', MAX_ACCOUNTS, 'docs/mirror.md').entries()) {
    const pointer = `/accounts/${index}`;
    const caller = isPlainObject(item) ? item['caller'] : undefined;
    const file = (path: string) => resolve(dirname(source), path);
    const authorization = accountAuthorization(item, pointer, { env: undefined, file, problemOf }, fault, ['caller']);
    if (typeof caller !== 'string' || caller === '') fault(`${pointer}/caller`, 'must be the name of a caller');
    else if (found.has(caller)) fault(`${pointer}/caller`, 'already has an account');
    else found.set(caller, authorization ?? '');
  }
  if (faults.length > 0) throw new StartFault(faults);
  return found;
}
