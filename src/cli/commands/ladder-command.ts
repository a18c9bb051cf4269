import { readStoredLadder } from '../../features/levels/assemble-ladder.ts';
import { type Settings, withDemoState } from '../../engine/config/settings.ts';
import { IN_MEMORY } from '../../lib/replace-file.ts';
import type { Assembly } from '../../gateway.ts';
import { LADDER_DOCUMENT, readLadderFile, writeLadderFile } from '../../features/levels/ladder/ladder-file.ts';
import {
  LADDER_CHECKS,
  type LadderState,
  liftStep,
  startingState,
  stepOf,
} from '../../features/levels/ladder/ladder-step.ts';
import { emptySnapshot, type LedgerSnapshot } from '../../engine/model/ledger-entry.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { usesRedis } from '../../engine/sharing/redis/redis-options.ts';
import { editDocumentInRedis } from '../../engine/sharing/redis/redis-document.ts';
import { type Command, type CommandIo, type CommandLine, EXIT, UsageError } from '../command.ts';
import { CONFIG_FLAGS, settingsFrom, withAssembly } from '../flags/config-flags.ts';
import { choiceFlag, requireKnownOperation, sinceHour } from '../flags/flag-values.ts';
import { recordsAt } from '../flags/kept-records.ts';
import { ladderJson, ladderTable } from '../terminal/ladder-table.ts';

const FORMATS = ['table', 'json'];

/**
 * The `portico ladder` command shows each operation's check levels and the counts that determine the next level change.
 */
export const ladderCommand: Command = {
  name: 'ladder',
  summary: 'Show which checks are ready to be enforced, or undo promotions and demotions',
  args: '',
  argCount: [0, 0],
  flags: [
    ...CONFIG_FLAGS,
    {
      name: 'since',
      value: 'WHEN',
      help: 'Start of the counted period: 24h, 7d or an instant; 7d by default.',
    },
    { name: 'operation', value: 'ID', help: 'Only this operation.' },
    { name: 'format', value: 'FORMAT', choices: FORMATS, help: 'table or json.' },
    {
      name: 'lift',
      value: 'OPERATION[:CHECK]',
      help: 'Lift the promotion or demotion of this check or, without CHECK, of all checks of the operation.',
    },
  ],
  notes: [
    'The counts come from the ledger. The promotions and demotions come from ladder.file or, if gateways share Redis, from',
    'Redis. A running gateway applies --lift within ten seconds; gateways that share Redis apply it immediately.',
    'Use the gateway’s configuration and environment (UPSTREAM_URL, PORTICO_MODE, PORTICO_CONFIG), because they determine',
    'the levels.',
    'Example: portico ladder --operation listQuestions --since 24h',
    'Example: portico ladder --lift listQuestions:responses',
  ],
  run: async (line, io) => {
    const request = requestOf(line, systemClock);
    const settings = withDemoState(await settingsFrom(line, io));
    return withLadder(settings, (assembly, place) =>
      request.lift === undefined
        ? show(settings, assembly, { ...request, place }, io)
        : liftLevels(settings, assembly, { target: request.lift, place }, io),
    );
  },
};

interface LadderRequest {
  readonly since: number;
  readonly operation: string | undefined;
  readonly format: string;
  readonly lift: string | undefined;
}

function requestOf(line: CommandLine, clock: Clock): LadderRequest {
  const since = sinceHour(line.last('since') ?? '7d', clock());
  const format = choiceFlag(line, 'format', FORMATS) ?? 'table';
  const lift = line.last('lift');
  if (lift !== undefined && ['since', 'operation', 'format'].some((name) => line.last(name) !== undefined))
    throw new UsageError('--lift cannot be combined with --since, --operation and --format');
  return { since, operation: line.last('operation'), format, lift };
}

/**
 * The source of the ladder state. `new` means that Redis contains no state for this contract, and `unreachable` means
 * that Redis cannot be reached. In these two cases, Redis is configured, but the state comes from the file.
 */
type LadderPlace = 'file' | 'redis' | 'new' | 'unreachable';

const REDIS_AWAY = 'Redis cannot be reached.';

/**
 * Assembles the gateway and calls `use` with it. If Redis is configured and contains a ladder state, the ladder is
 * assembled with that state.
 */
function withLadder<T>(settings: Settings, use: (assembly: Assembly, place: LadderPlace) => Promise<T>): Promise<T> {
  if (!usesRedis(settings.redis)) return withAssembly(settings, (assembly) => use(assembly, 'file'));
  // The ladder is stored in memory so that the command does not write the shared state to the file.
  const inMemory = { ...settings, ladder: { ...settings.ladder, file: IN_MEMORY } };
  return withAssembly(inMemory, async (assembly) => {
    const { ladder } = assembly.services;
    const { contract } = ladder.state();
    const shared = await editShared(settings, contract, (state) => state);
    if (typeof shared === 'object') {
      ladder.adopt(shared);
      return use(assembly, 'redis');
    }
    ladder.adopt(startingState(readStoredLadder(settings), contract, systemClock()));
    return use(assembly, shared);
  });
}

async function show(
  settings: Settings,
  { services }: Assembly,
  request: LadderRequest & { readonly place: LadderPlace },
  io: CommandIo,
): Promise<number> {
  const { ladder } = services;
  requireKnownOperation(
    request.operation,
    ladder.levels().map(({ operation }) => operation),
    '--operation',
  );
  if (request.place === 'unreachable') io.err(`warning: ${REDIS_AWAY} The moves come from ${settings.ladder.file}.`);
  const other = request.place === 'redis' ? undefined : otherContract(settings, ladder.state());
  if (other !== undefined) io.err(`warning: ${other}`);
  io.err(
    `Levels: mode ${settings.mode.name} with the configuration given here. ` +
      `Moves: ${request.place === 'redis' ? `Redis (prefix ${settings.redis.prefix})` : settings.ladder.file}. ` +
      `Counts: ${recordsAt(settings).name}.`,
  );
  const snapshot = await snapshotOf(settings, request, io);
  const rows = ladder
    .rows(snapshot)
    .filter(({ operation }) => request.operation === undefined || operation === request.operation);
  if (request.format === 'json') io.out(ladderJson(rows, snapshot, ladder.state()));
  else ladderTable(rows).forEach(io.out);
  return EXIT.ok;
}

/** Reads the counts from the ledger, or returns an empty snapshot if the ledger does not exist yet. */
async function snapshotOf(
  settings: Settings,
  { since, operation }: LadderRequest,
  io: CommandIo,
): Promise<LedgerSnapshot> {
  const ledger = recordsAt(settings);
  const found = await ledger.read({ since, ...(operation === undefined ? {} : { operation }) });
  if (found !== undefined) return found;
  io.err(
    ledger.isLasting
      ? `The ledger ${ledger.name} does not exist yet: no requests have been checked.`
      : `ledger.file is ${ledger.name}, so only the console of the running gateway can show counts.`,
  );
  return emptySnapshot({ since }, systemClock());
}

/** Undoes ladder steps. `target` has the form OPERATION or OPERATION:CHECK. Returns the exit code. */
async function liftLevels(
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
  else if (typeof (await editShared(settings, state.contract, lift)) === 'string') {
    io.err(`${REDIS_AWAY} Nothing was changed.`);
    return EXIT.failed;
  }
  for (const step of found) io.out(`${step.operation} ${step.check}: ${EFFECTS[step.move]}`);
  io.err(APPLIES[place]);
  return EXIT.ok;
}

const EFFECTS = {
  demoted: 'demotion lifted; the configured level applies again',
  promoted: 'promotion lifted; it will not be repeated for this contract',
  lifted: 'may be promoted again',
} as const;

const OWN_GATEWAY = 'A running gateway applies this within ten seconds; the console applies it immediately.';

/** Messages about when a change takes effect, keyed by the source of the ladder state. */
const APPLIES: Readonly<Record<LadderPlace, string>> = {
  file: OWN_GATEWAY,
  redis: 'All gateways that share Redis apply this immediately.',
  new: OWN_GATEWAY,
  unreachable:
    `${REDIS_AWAY} The gateway that uses this file applies the change within ten seconds, ` +
    'and the other gateways when Redis is available again.',
};

/** Edits the ladder state that gateways with this contract share. */
const editShared = ({ redis }: Settings, version: string, edit: (state: LadderState) => LadderState) =>
  editDocumentInRedis(redis, { ...LADDER_DOCUMENT, version }, edit);

/**
 * Returns a warning if ladder.file was written for a different contract, or undefined if it was not. The usual cause is
 * that the gateway's environment variables are not set in the shell.
 */
function otherContract({ ladder: { file } }: Settings, state: LadderState): string | undefined {
  const stored = file === IN_MEMORY ? undefined : readLadderFile(file);
  if (stored === undefined || stored.contract === state.contract || stored.steps.length === 0) return undefined;
  return (
    `${file} contains moves for a different contract (${stored.contract}; this one is ${state.contract}): ` +
    'run this command with the configuration and the environment of the gateway (PORTICO_CONFIG, UPSTREAM_URL, PORTICO_MODE).'
  );
}
