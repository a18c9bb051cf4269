import { type Fault, StartFault, syntaxFaults } from '../../engine/model/fault.ts';
import { toAuthorization } from '../../lib/basic-credentials.ts';
import { closestName } from '../../lib/closest-name.ts';
import { isPlainObject, type PlainObject } from '../../lib/plain-object.ts';
import { readYaml } from '../../lib/read-yaml.ts';
import { readSecretFile } from '../../lib/secret-file.ts';
import type { Caller } from './run-comparison.ts';

/** Where passwords come from. Paths are resolved by `file`. */
interface PasswordSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly file: (path: string) => string;
}

const CALLER_KEYS = ['name', 'old', 'new'];
const ACCOUNT_KEYS = ['user', 'passwordEnv', 'passwordFile'];
const MAX_CALLERS = 20;

/**
 * Reads the callers for whom both servers are asked. Each has its own account on each server, so that no credential
 * reaches a server for which it is not meant. Throws a StartFault that lists all errors.
 */
export function readCallers(text: string, source: string, passwords: PasswordSources): readonly Caller[] {
  const reading = readYaml(text);
  if (reading.errors !== undefined) throw new StartFault(syntaxFaults(source, reading.errors, 'see docs/moving.md'));
  const faults: Fault[] = [];
  const fault = (pointer: string, message: string, suggestion?: string) =>
    void faults.push({ source, pointer, message, ...(suggestion !== undefined && { suggestion }) });
  const list = isPlainObject(reading.value) ? reading.value['callers'] : undefined;
  if (!Array.isArray(list) || list.length === 0 || list.length > MAX_CALLERS) {
    fault('/callers', `must be a list of 1 to ${MAX_CALLERS} callers`);
    throw new StartFault(faults);
  }
  const names = new Set<string>();
  const callers = (list as unknown[]).map((item, index): Caller => {
    const pointer = `/callers/${index}`;
    const caller: PlainObject = isPlainObject(item) ? item : {};
    unknownKeys(caller, CALLER_KEYS, pointer, fault);
    const name = caller['name'];
    const isName = typeof name === 'string' && /^[\w .:-]{1,60}$/.test(name);
    if (!isName) fault(`${pointer}/name`, 'must be a name of at most 60 letters, digits, spaces or . : _ -');
    else if (names.has(name)) fault(`${pointer}/name`, 'is already the name of another caller');
    if (isName) names.add(name);
    const account = (side: 'old' | 'new') => authorizationOf(caller[side], `${pointer}/${side}`, passwords, fault);
    if ((caller['old'] === undefined) !== (caller['new'] === undefined))
      fault(pointer, 'must have an account on both servers, or on none', 'add old and new');
    return { name: isName ? name : '', old: account('old'), new: account('new') };
  });
  if (faults.length > 0) throw new StartFault(faults);
  return callers;
}

type Report = (pointer: string, message: string, suggestion?: string) => void;

function unknownKeys(object: PlainObject, known: readonly string[], pointer: string, fault: Report): void {
  for (const key of Object.keys(object))
    if (!known.includes(key))
      fault(`${pointer}/${key}`, 'unknown key', closestName(key, known) ?? `one of ${known.join(', ')}`);
}

function authorizationOf(
  value: unknown,
  pointer: string,
  { env, file }: PasswordSources,
  fault: Report,
): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isPlainObject(value)) {
    fault(pointer, 'must be a mapping with user and passwordEnv or passwordFile');
    return undefined;
  }
  unknownKeys(value, ACCOUNT_KEYS, pointer, fault);
  const { user, passwordEnv, passwordFile } = value;
  if (typeof user !== 'string' || user === '' || user.includes(':')) {
    fault(`${pointer}/user`, 'must be a user name without a colon');
    return undefined;
  }
  if ((typeof passwordEnv === 'string') === (typeof passwordFile === 'string')) {
    fault(pointer, 'must have either passwordEnv or passwordFile');
    return undefined;
  }
  if (typeof passwordEnv === 'string') {
    const password = env[passwordEnv];
    if (password !== undefined && password !== '') return toAuthorization(user, password);
    fault(`${pointer}/passwordEnv`, `the variable ${passwordEnv} is not set`);
    return undefined;
  }
  const secret = readSecretFile(file(String(passwordFile)));
  if ('text' in secret) return toAuthorization(user, secret.text);
  fault(`${pointer}/passwordFile`, secret.fault);
  return undefined;
}
