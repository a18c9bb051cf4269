import { readStoredLadder } from '../../assembly/features/assemble-ladder.ts';
import type { Settings } from '../../config/settings.ts';
import { IN_MEMORY } from '../../files/replace-file.ts';
import type { Assembly } from '../../gateway.ts';
import { LADDER_DOCUMENT, readLadderFile, writeLadderFile } from '../../ladder/ladder-file.ts';
import { LADDER_CHECKS, type LadderState, liftStep, startingState, stepOf } from '../../ladder/ladder-step.ts';
import { systemClock } from '../../lib/clock.ts';
import { connectRedis, RedisUnavailable, untilAvailable } from '../../redis/connect-redis.ts';
import { openRedisChangeLog } from '../../redis/redis-change-log.ts';
import { readRedisSecrets, usesRedis } from '../../redis/redis-options.ts';
import { editSharedDocument } from '../../redis/shared-document.ts';
import { type CommandIo, EXIT, UsageError } from '../command.ts';
import { withAssembly } from '../flags/config-flags.ts';
import { requireKnownOperation } from '../flags/flag-values.ts';

/**
 * Where the state of the ladder comes from. `new` means that Redis contains no state for this contract, and
 * `unreachable` means that Redis cannot be reached. In these two cases, Redis is configured, but the state comes from
 * the file.
 */
export type LadderPlace = 'file' | 'redis' | 'new' | 'unreachable';

export const REDIS_AWAY = 'Redis cannot be reached.';

/**
 * Assembles the gateway and calls `use` with the assembly. If Redis is configured and contains a ladder state, the
 * assembly's ladder has this state.
 */
export function withLadder<T>(
  settings: Settings,
  use: (assembly: Assembly, place: LadderPlace) => Promise<T>,
): Promise<T> {
  if (!usesRedis(settings.redis)) return withAssembly(settings, (assembly) => use(assembly, 'file'));
  // The ladder is held in memory, so that the command does not write the shared state to the file.
  const inMemory = { ...settings, ladder: { ...settings.ladder, file: IN_MEMORY } };
  return withAssembly(inMemory, async (assembly) => {
    const { ladder } = assembly.services;
    const { contract } = ladder.state();
    const shared = await editFleetLadder(settings, contract, (state) => state);
    if (typeof shared === 'object') {
      ladder.adopt(shared);
      return use(assembly, 'redis');
    }
    ladder.adopt(startingState(readStoredLadder(settings), contract, systemClock()));
    return use(assembly, shared);
  });
}

/** Undoes steps of the ladder. `target` has the form OPERATION or OPERATION:CHECK. Returns the exit code. */
export async function liftLevels(
  settings: Settings,
  { services }: Assembly,
  { target, place }: { readonly target: string; readonly place: LadderPlace },
  io: CommandIo,
): Promise<number> {
  const { ladder } = services;
  const [operation = '', ...rest] = target.split(':');
  const check = rest.length === 0 ? undefined : rest.join(':');
  requireKnownOperation(
    operation,
    ladder.levels().map((one) => one.operation),
    '--lift',
  );
  const checks = check === undefined ? LADDER_CHECKS : LADDER_CHECKS.filter((name) => name === check);
  if (checks.length === 0) throw new UsageError(`--lift ${target}: the checks are ${LADDER_CHECKS.join(', ')}`);
  const { file } = settings.ladder;
  const state = ladder.state();
  const found = checks.flatMap((name) => stepOf(state.steps, operation, name) ?? []);
  if (found.length === 0) {
    const notes = {
      file: file === IN_MEMORY ? ' (ladder.file is :memory:)' : '',
      redis: '',
      new: ` according to ${file}, and Redis contains no ladder for this contract (${state.contract})`,
      unreachable: ` according to ${file}, and Redis cannot be reached`,
    };
    const other = place === 'redis' ? undefined : otherContract(settings, state);
    io.err(other ?? `The ladder has not moved ${target}${notes[place]}.`);
    return EXIT.failed;
  }
  const lift = (from: LadderState): LadderState => {
    const steps = checks.flatMap((name) => stepOf(from.steps, operation, name) ?? []);
    if (steps.length === 0) return from;
    return { ...from, steps: steps.reduce((remaining, step) => liftStep(remaining, step, systemClock()), from.steps) };
  };
  if (place !== 'redis') await writeLadderFile(file, lift(state));
  else if (typeof (await editFleetLadder(settings, state.contract, lift)) === 'string') {
    io.err(`${REDIS_AWAY} Nothing was changed.`);
    return EXIT.failed;
  }
  for (const step of found) io.out(`${step.operation} ${step.check}: ${EFFECTS[step.move]}`);
  io.err(APPLIES[place]);
  return EXIT.ok;
}

const EFFECTS = {
  demoted: 'demotion undone; the configured level applies again',
  promoted: 'promotion undone; it will not be repeated for this contract',
  lifted: 'may be promoted again',
} as const;

const OWN_GATEWAY = 'A running gateway applies this within ten seconds; the console applies it immediately.';

/** Messages about when a change takes effect, by the source of the ladder state. */
const APPLIES: Readonly<Record<LadderPlace, string>> = {
  file: OWN_GATEWAY,
  redis: 'All gateways that share Redis apply this immediately.',
  new: OWN_GATEWAY,
  unreachable:
    `${REDIS_AWAY} The gateway that uses this file applies the change within ten seconds, ` +
    'and the other gateways when Redis is available again.',
};

/**
 * Applies `edit` to the ladder state that gateways share in Redis, stores the result, and returns it. Returns `new` if
 * there is no shared state, and `unreachable` if Redis cannot be reached.
 */
async function editFleetLadder(
  { redis: options }: Settings,
  contract: string,
  edit: (state: LadderState) => LadderState,
): Promise<LadderState | 'new' | 'unreachable'> {
  const { secrets } = readRedisSecrets(options);
  // The error was already reported when the gateway was assembled.
  if (secrets === undefined) return 'unreachable';
  const redis = connectRedis(options, secrets, systemClock);
  try {
    await untilAvailable(redis, options.connectTimeoutMs);
    let isChanged = false;
    const state = await editSharedDocument({ ...LADDER_DOCUMENT, redis, version: contract }, (from) => {
      const next = edit(from);
      isChanged = next !== from;
      return next;
    });
    if (isChanged) {
      const listener = { apply: () => undefined, reset: () => undefined };
      const changes = openRedisChangeLog({ redis, listener, clock: systemClock, maxChanges: options.maxChanges });
      await changes.append({ kind: 'reread', document: LADDER_DOCUMENT.name });
      await changes.close();
    }
    return state ?? 'new';
  } catch (error) {
    if (error instanceof RedisUnavailable) return 'unreachable';
    throw error;
  } finally {
    redis.close();
  }
}

/**
 * Returns a warning if ladder.file was written for a different contract, or undefined if it was not. The usual cause is
 * that environment variables of the gateway are not set in the shell.
 */
export function otherContract({ ladder: { file } }: Settings, state: LadderState): string | undefined {
  const stored = file === IN_MEMORY ? undefined : readLadderFile(file);
  if (stored === undefined || stored.contract === state.contract || stored.steps.length === 0) return undefined;
  return (
    `${file} contains moves for a different contract (${stored.contract}; this one is ${state.contract}): ` +
    'run this command with the configuration and the environment of the gateway (PORTICO_CONFIG, UPSTREAM_URL, PORTICO_MODE).'
  );
}
