import { emptySnapshot } from '../../ledger/ledger-store.ts';
import { ledgerAt } from '../../ledger/store/ledger-location.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { type LadderRow, stepWords } from '../../ladder/ladder-rows.ts';
import type { LadderState } from '../../ladder/ladder-step.ts';
import type { LedgerSnapshot } from '../../model/ledger-entry.ts';
import type { Settings } from '../../config/settings.ts';
import type { Assembly } from '../../gateway.ts';
import { choiceFlag, requireKnownOperation, sinceHour } from '../flags/flag-values.ts';
import { type Command, type CommandIo, type CommandLine, EXIT, UsageError } from '../command.ts';
import { CONFIG_FLAGS, settingsFrom } from '../flags/config-flags.ts';
import { type LadderPlace, liftLevels, otherContract, REDIS_AWAY, withLadder } from '../tasks/lift-levels.ts';

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
      help: 'Undo the promotion or demotion of this check or, without CHECK, of all checks of the operation.',
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
    const settings = await settingsFrom(line, io);
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
      `Counts: ${ledgerAt(settings.ledger, settings.redis).name}.`,
  );
  const snapshot = await snapshotOf(settings, request, io);
  const rows = ladder
    .rows(snapshot)
    .filter(({ operation }) => request.operation === undefined || operation === request.operation);
  if (request.format === 'json') io.out(ladderJson(rows, snapshot, ladder.state()));
  else ladderTable(rows).forEach(io.out);
  return EXIT.ok;
}

/** Reads the counts from the ledger. If the ledger does not exist yet, returns an empty snapshot. */
async function snapshotOf(
  settings: Settings,
  { since, operation }: LadderRequest,
  io: CommandIo,
): Promise<LedgerSnapshot> {
  const ledger = ledgerAt(settings.ledger, settings.redis);
  const found = await ledger.read({ since, ...(operation === undefined ? {} : { operation }) });
  if (found !== undefined) return found;
  io.err(
    ledger.isLasting
      ? `The ledger ${ledger.name} does not exist yet: no requests have been checked.`
      : `ledger.file is ${ledger.name}, so only the console of the running gateway can show counts.`,
  );
  return emptySnapshot({ since }, systemClock());
}

const COLUMNS = [
  'operation',
  'check',
  'configured',
  'effective',
  'clean',
  'would refuse',
  'refused',
  'next step',
  'moved',
];
/** The indexes of the columns that contain numbers. */
const NUMERIC: ReadonlySet<number> = new Set([4, 5, 6]);

/** Formats the ladder as lines of a terminal table. */
function ladderTable(rows: readonly LadderRow[]): string[] {
  const cells = rows.map(({ operation, check, configured, effective, counts, next, step }) => [
    operation,
    check,
    configured,
    effective,
    ...[counts.passed, counts.reported, counts.refused].map((value) => value.toLocaleString('en-US')),
    next.text,
    step === undefined ? '' : stepWords(step),
  ]);
  const table = [COLUMNS, ...cells];
  const widths = COLUMNS.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  const fill = (text: string, column: number) =>
    NUMERIC.has(column) ? text.padStart(widths[column] ?? 0) : text.padEnd(widths[column] ?? 0);
  return table.map((row) => row.map(fill).join('  ').trimEnd());
}

/** Formats the ladder as JSON, with times in ISO 8601 format. */
function ladderJson(rows: readonly LadderRow[], { since, takenAt }: LedgerSnapshot, state: LadderState): string {
  const written = rows.map(({ operation, check, configured, effective, counts, next, step }) => ({
    operation,
    check,
    configured,
    effective,
    clean: counts.passed,
    wouldHaveRefused: counts.reported,
    refused: counts.refused,
    next: next.kind,
    why: next.text,
    moved: step === undefined ? null : { move: step.move, at: instant(step.at), why: stepWords(step) },
  }));
  const head = { takenAt: instant(takenAt), since: instant(since), contract: state.contract };
  return JSON.stringify({ ...head, rows: written }, null, 2);
}

const instant = (at: number | undefined) => (at === undefined ? null : new Date(at).toISOString());
