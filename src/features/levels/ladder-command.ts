import { optionsOf } from '../../engine/config/configurable.ts';
import { type Settings, withDemoState } from '../../engine/config/settings.ts';
import type { CommandTools } from '../../engine/feature-command.ts';
import { OPERATION_CHECKS } from '../../engine/model/checks.ts';
import { emptySnapshot, type LedgerSnapshot } from '../../engine/model/ledger-entry.ts';
import { editDocumentInRedis } from '../../engine/sharing/redis/redis-document.ts';
import { usesRedis } from '../../engine/sharing/redis/redis-options.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { type Command, type CommandIo, type CommandLine, EXIT, UsageError } from '../../lib/command.ts';
import { choiceFlag, requireKnownOperation, sinceHour } from '../../lib/flag-values.ts';
import { IN_MEMORY } from '../../lib/replace-file.ts';
import { ladderJson, ladderTable } from './ladder-table.ts';
import { createLadder, type Ladder, lifted } from './ladder.ts';
import { decisionOf } from './ladder-rows.ts';
import { inOrder, isOfLadder, type LadderEntry, type LevelsState } from './level-entry.ts';
import { createLevelStore, type LevelStore } from './level-store.ts';
import { writeLevelsFile } from './levels-file.ts';
import { setupOf } from './levels-setup.ts';
import type { LevelsOptions } from './options.ts';
import { LEVELS_DOCUMENT } from './shared-levels.ts';
import { readStoredLevels } from './stored-levels.ts';

const FORMATS = ['table', 'json'];

/**
 * The `portico ladder` command shows each operation's check levels and the counts that determine the next level change.
 */
export const ladderCommand = (tools: CommandTools): Command => ({
  name: 'ladder',
  summary: 'Show which checks are ready to be enforced, or undo promotions and demotions',
  args: '',
  argCount: [0, 0],
  flags: [
    ...tools.configFlags,
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
    'The counts come from the ledger. The promotions and demotions come from levels.file or, if gateways share Redis, from',
    'Redis. A running gateway applies --lift within ten seconds; gateways that share Redis apply it immediately.',
    'Use the gateway’s configuration and environment (UPSTREAM_URL, PORTICO_MODE, PORTICO_CONFIG), because they determine',
    'the levels.',
    'Example: portico ladder --operation {operation} --since 24h',
    'Example: portico ladder --lift {operation}:responses',
  ],
  run: async (line, io) => {
    const request = requestOf(line, systemClock);
    const settings = withDemoState(await tools.settings(line, io));
    const own = optionsOf(settings, { name: 'levels' }) as LevelsOptions;
    return tools.inspect(settings, async ({ contract, isAccepted }) => {
      const fileState = readStoredLevels({ options: own, settings }).state;
      const found = usesRedis(settings.redis) ? await editFleet(settings, contract.version, (state) => state) : 'file';
      const isShared = typeof found === 'object';
      const store = createLevelStore({
        stored: isShared ? found : fileState,
        contract: contract.version,
        isShared,
        clock: systemClock,
        write: () => undefined,
      });
      const place: Place = {
        kind: isShared ? 'redis' : found,
        file: own.file,
        other: isShared ? undefined : otherContract(own.file, fileState, contract.version),
      };
      const ladder = createLadder({
        ...setupOf(own, settings, contract),
        store,
        isAccepted,
        events: NO_EVENTS,
        clock: systemClock,
      });
      const target = request.lift;
      return target === undefined
        ? show(settings, tools, { ladder, store, place }, request, io)
        : liftLevels(settings, { ladder, store, place, fileState, target }, io);
    });
  },
});

const NO_EVENTS = {
  demoted: () => undefined,
  promoted: () => undefined,
  lifted: () => undefined,
  alerted: () => undefined,
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

/** Where the ladder's decisions come from. */
interface Place {
  /**
   * `new` means that Redis contains nothing for this contract, and `unreachable` that Redis cannot be reached. In these
   * two cases, Redis is configured, but the decisions come from the file.
   */
  readonly kind: 'file' | 'redis' | 'new' | 'unreachable';
  readonly file: string;
  /** A warning if the file was written for another contract. */
  readonly other: string | undefined;
}

interface Found {
  readonly ladder: Ladder;
  readonly store: LevelStore;
  readonly place: Place;
}

const REDIS_AWAY = 'Redis cannot be reached.';

async function show(
  settings: Settings,
  tools: CommandTools,
  { ladder, store, place }: Found,
  request: LadderRequest,
  io: CommandIo,
): Promise<number> {
  const ids = ladder.levels().map(({ operation }) => operation);
  requireKnownOperation(request.operation, ids, '--operation');
  if (place.kind === 'unreachable') io.err(`warning: ${REDIS_AWAY} The moves come from ${place.file}.`);
  if (place.other !== undefined) io.err(`warning: ${place.other}`);
  const records = tools.records(settings);
  io.err(
    `Levels: mode ${settings.mode.name} with the configuration given here. ` +
      `Moves: ${place.kind === 'redis' ? `Redis (prefix ${settings.redis.prefix})` : place.file}. ` +
      `Counts: ${records.name}.`,
  );
  const snapshot = await snapshotOf(records, request, io);
  const rows = ladder
    .rows(snapshot)
    .filter(({ operation }) => request.operation === undefined || operation === request.operation);
  if (request.format === 'json') io.out(ladderJson(rows, snapshot, store.contract().contract));
  else ladderTable(rows).forEach(io.out);
  return EXIT.ok;
}

/** Reads the counts from the ledger, or returns an empty snapshot if the ledger does not exist yet. */
async function snapshotOf(
  records: ReturnType<CommandTools['records']>,
  { since, operation }: LadderRequest,
  io: CommandIo,
): Promise<LedgerSnapshot> {
  const found = await records.read({ since, ...(operation === undefined ? {} : { operation }) });
  if (found !== undefined) return found;
  io.err(
    records.isLasting
      ? `The ledger ${records.name} does not exist yet: no requests have been checked.`
      : `ledger.file is ${records.name}, so only the console of the running gateway can show counts.`,
  );
  return emptySnapshot({ since }, systemClock());
}

/** Undoes the ladder's decisions. `target` has the form OPERATION or OPERATION:CHECK. Returns the exit code. */
async function liftLevels(
  settings: Settings,
  { ladder, store, place, fileState, target }: Found & { readonly fileState: LevelsState; readonly target: string },
  io: CommandIo,
): Promise<number> {
  const [operation = '', ...rest] = target.split(':');
  const check = rest.length === 0 ? undefined : rest.join(':');
  const ids = ladder.levels().map((one) => one.operation);
  requireKnownOperation(operation, ids, '--lift');
  const checks = check === undefined ? OPERATION_CHECKS : OPERATION_CHECKS.filter((name) => name === check);
  if (checks.length === 0) throw new UsageError(`--lift ${target}: the checks are ${OPERATION_CHECKS.join(', ')}`);
  const { contract } = store.contract();
  const found = checks.flatMap((name) => decisionOf(store.decisions(), operation, name) ?? []);
  if (found.length === 0) {
    io.err(place.other ?? `The ladder has not moved ${target}${noteOf(place, contract)}.`);
    return EXIT.failed;
  }
  const isMeant = (entry: LevelsState['entries'][number]): entry is LadderEntry =>
    isOfLadder(entry) &&
    entry.contract === contract &&
    entry.operation === operation &&
    checks.some((one) => one === entry.check);
  const lift = (state: LevelsState): LevelsState => {
    const meant = state.entries.filter(isMeant);
    if (meant.length === 0) return state;
    const remaining = meant.flatMap((entry) => lifted(entry, systemClock()) ?? []);
    return { ...state, entries: inOrder([...state.entries.filter((entry) => !isMeant(entry)), ...remaining]) };
  };
  if (place.kind !== 'redis') await writeLevelsFile(place.file, lift(fileState));
  else if (typeof (await editFleet(settings, contract, lift)) === 'string') {
    io.err(`${REDIS_AWAY} Nothing was changed.`);
    return EXIT.failed;
  }
  for (const entry of found) io.out(`${entry.operation} ${entry.check}: ${EFFECTS[entry.move]}`);
  io.err(APPLIES[place.kind]);
  return EXIT.ok;
}

function noteOf({ kind, file }: Place, contract: string): string {
  const notes = {
    file: file === IN_MEMORY ? ' (levels.file is :memory:)' : '',
    redis: '',
    new: ` according to ${file}, and Redis contains no ladder for this contract (${contract})`,
    unreachable: ` according to ${file}, and Redis cannot be reached`,
  };
  return notes[kind];
}

const EFFECTS = {
  demoted: 'demotion lifted; the configured level applies again',
  promoted: 'promotion lifted; it will not be repeated for this contract',
  lifted: 'may be promoted again',
} as const;

const OWN_GATEWAY = 'A running gateway applies this within ten seconds; the console applies it immediately.';

/** Messages about when a change takes effect, keyed by the source of the decisions. */
const APPLIES: Readonly<Record<Place['kind'], string>> = {
  file: OWN_GATEWAY,
  redis: 'All gateways that share Redis apply this immediately.',
  new: OWN_GATEWAY,
  unreachable:
    `${REDIS_AWAY} The gateway that uses this file applies the change within ten seconds, ` +
    'and the other gateways when Redis is available again.',
};

/**
 * Applies `edit` to the state that gateways share, and returns it. Returns `new` if there is none for the contract, and
 * `unreachable` if the others cannot be reached.
 */
async function editFleet(
  { redis }: Settings,
  contract: string,
  edit: (state: LevelsState) => LevelsState,
): Promise<LevelsState | 'new' | 'unreachable'> {
  const state = await editDocumentInRedis(redis, LEVELS_DOCUMENT, edit);
  return typeof state === 'string' || state.contracts.some((one) => one.contract === contract) ? state : 'new';
}

/**
 * Returns a warning if levels.file was written for a different contract, or undefined if it was not. The usual cause is
 * that the gateway's environment variables are not set in the shell.
 */
function otherContract(file: string, { contracts, entries }: LevelsState, contract: string): string | undefined {
  if (contracts.some((one) => one.contract === contract)) return undefined;
  const other = entries.find(isOfLadder);
  if (other === undefined) return undefined;
  return (
    `${file} contains moves for a different contract (${other.contract}; this one is ${contract}): ` +
    'run this command with the configuration and the environment of the gateway (PORTICO_CONFIG, UPSTREAM_URL, PORTICO_MODE).'
  );
}
