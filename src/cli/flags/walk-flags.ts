import { toAuthorization } from '../../lib/basic-credentials.ts';
import type { Operation } from '../../model/operation.ts';
import { type CommandIo, type CommandLine, UsageError } from '../command.ts';
import { numberFlag } from './flag-values.ts';
import { readSecret } from '../terminal/read-secret.ts';

/** The limits of a walk, which sends requests for the contract's operations to a server. */
interface WalkBounds {
  readonly maxRequests: number;
  readonly delayMs: number;
  /** The timeout of each request. If undefined, the configured timeouts apply. */
  readonly timeoutMs: number | undefined;
  readonly ids: ReadonlyMap<string, readonly string[]>;
}

const MAX_REQUESTS = 200;
const DELAY_MS = 50;

/**
 * Reads the limits of a walk. `parameters` contains the path parameters that `--id` accepts. Throws a UsageError if a
 * value is invalid.
 */
export function walkBounds(line: CommandLine, parameters: readonly string[]): WalkBounds {
  const timeout = line.last('timeout');
  return {
    maxRequests: numberFlag(line, 'max-requests', MAX_REQUESTS, [1, 1_000_000]),
    delayMs: numberFlag(line, 'delay', DELAY_MS, [0, 600_000]),
    timeoutMs: timeout === undefined ? undefined : secondsOf(timeout),
    ids: walkIds(line.all('id'), parameters),
  };
}

function secondsOf(text: string): number {
  const seconds = /^\d{1,4}(?:\.\d{1,3})?$/.test(text) ? Number(text) : 0;
  if (seconds > 0 && seconds <= 600) return seconds * 1000;
  throw new UsageError('--timeout must be a number of seconds greater than 0 and at most 600');
}

/** Returns the path parameters that `--id` accepts: those of the operations that a walk requests. */
export function walkedParameters(operations: readonly Operation[]): readonly string[] {
  const safe = operations.filter(({ method }) => method === 'GET').flatMap(({ parameters }) => parameters);
  return [...new Set(safe.filter(({ location }) => location === 'path').map(({ name }) => name))];
}

/** Parses the values of `--id` (NAME=ID) and groups the ids by parameter. Throws a UsageError if a value is invalid. */
export function walkIds(
  texts: readonly string[],
  parameters: readonly string[],
): ReadonlyMap<string, readonly string[]> {
  const ids = new Map<string, readonly string[]>();
  for (const text of texts) {
    const { name = '', id } = /^(?<name>\w+)=(?<id>[^/?#\s]{1,100})$/.exec(text)?.groups ?? {};
    if (id === undefined) throw new UsageError(`--id ${text}: must be NAME=ID, for example jobId=12`);
    if (!parameters.includes(name))
      throw new UsageError(`--id ${text}: unknown path parameter "${name}"; the walk uses ${parameters.join(', ')}`);
    ids.set(name, [...(ids.get(name) ?? []), id]);
  }
  return ids;
}

/**
 * Returns the credential for a walk, or undefined if `--user` is absent. There is no flag for the password, because
 * other users on the machine could see it.
 */
export async function walkCredential(line: CommandLine, io: CommandIo): Promise<string | undefined> {
  const user = line.last('user');
  if (user === undefined) return undefined;
  if (user === '' || user.includes(':')) throw new UsageError('--user must be a user name without a colon');
  const password = io.env['PORTICO_PASSWORD'] ?? (await readSecret(io, `Password of ${user}: `));
  if (password === '')
    throw new UsageError(`no password for ${user}: set PORTICO_PASSWORD or enter it on standard input`);
  return toAuthorization(user, password);
}
