import type { Operation } from '../../engine/model/operation.ts';
import { type CommandLine, type Flag, UsageError } from '../../lib/command.ts';
import { numberFlag } from '../../lib/flag-values.ts';

/** The flag for ids that a walk cannot find in the server's responses. */
export const ID_FLAG: Flag = {
  name: 'id',
  value: 'NAME=ID',
  multiple: true,
  help: 'An id that no response contains, for example jobId=12.',
};

/** The flag that sets the pause between requests during a walk or an examination. */
export const DELAY_FLAG: Flag = {
  name: 'delay',
  value: 'MS',
  help: 'Pause between requests in milliseconds; 50 by default.',
};

/** The limits of a walk, which sends requests for the contract's operations to a server. */
interface WalkBounds {
  readonly maxRequests: number;
  readonly delayMs: number;
  /** The timeout for each request. If undefined, the configured timeouts apply. */
  readonly timeoutMs: number | undefined;
  readonly ids: ReadonlyMap<string, readonly string[]>;
}

/**
 * Reads a walk's limits. `parameters` contains the path parameters that `--id` accepts, and `maxRequests` is the default.
 * Throws a UsageError if a value is invalid.
 */
export function walkBounds(line: CommandLine, parameters: readonly string[], maxRequests = 200): WalkBounds {
  const timeout = line.last('timeout');
  return {
    maxRequests: numberFlag(line, 'max-requests', maxRequests, [1, 1_000_000]),
    delayMs: numberFlag(line, 'delay', 50, [0, 600_000]),
    timeoutMs: timeout === undefined ? undefined : secondsOf(timeout),
    ids: walkIds(line.all('id'), parameters),
  };
}

function secondsOf(text: string): number {
  const seconds = /^\d{1,4}(?:\.\d{1,3})?$/.test(text) ? Number(text) : 0;
  if (seconds > 0 && seconds <= 600) return seconds * 1000;
  throw new UsageError('--timeout must be a number of seconds greater than 0 and at most 600');
}

/** Returns the path parameters that `--id` accepts, that is, those of the operations requested by a walk. */
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
