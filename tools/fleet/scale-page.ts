import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_CACHE_OPTIONS } from '../../src/engine/cache/cache-options.ts';
import { grouped } from '../prove/proof.ts';
import type { Row } from './assess.ts';
import type { LargeFleet, Point } from './compare.ts';
import { formatFiles } from './format-files.ts';

const ROOT = join(import.meta.dirname, '../..');
const PAGE = join(ROOT, 'docs/scale.md');
const RESULTS = join(ROOT, 'docs/scale.json');

/** The origin of measured values: the commit, the date and the machine. */
interface Provenance {
  readonly commit: string;
  readonly date: string;
  readonly machine: string;
}

/** The measured inputs of the model. */
export interface ModelInputs {
  readonly gatewayCpuUsPerRequest: number;
  readonly redisCpuUsPerCommand: number;
  readonly gatewayBytes: number;
  readonly pageBytes: number;
  /** How long a page remains stored after it is fetched, in seconds. */
  readonly pageSeconds: number;
}

/** The results in docs/scale.json, from which all tables in docs/scale.md are generated. */
export interface ScaleResults {
  readonly run?: Provenance & { readonly settings: string; readonly rows: readonly Row[] };
  readonly points?: Provenance & { readonly points: readonly Point[] };
  readonly model?: Provenance & { readonly inputs: ModelInputs; readonly fleets: readonly LargeFleet[] };
}

/** Returns the commit, the date, and a description of this machine. */
export function provenance(): Provenance {
  const git = spawnSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: ROOT, encoding: 'utf8' }).stdout?.trim();
  const memory = `${(totalmem() / 2 ** 30).toFixed(0)} GiB`;
  return {
    commit: git === undefined || git === '' ? 'unknown' : git,
    date: new Date().toISOString().slice(0, 10),
    machine: `${cpus().length} cores (${cpus()[0]?.model.trim() ?? 'unknown'}), ${memory}, Node ${process.versions.node}`,
  };
}

/** Returns the stored results. */
export function readResults(): ScaleResults {
  return existsSync(RESULTS) ? (JSON.parse(readFileSync(RESULTS, 'utf8')) as ScaleResults) : {};
}

/** Merges new results into the stored ones, and rewrites all tables on the page. */
export function writeResults(changes: ScaleResults): void {
  const results = { ...readResults(), ...changes };
  writeFileSync(RESULTS, `${JSON.stringify(results, undefined, 2)}\n`);
  formatFiles([RESULTS]);
  writeFileSync(PAGE, withTables(readFileSync(PAGE, 'utf8'), results));
}

/** Returns the page's text, with its tables replaced by tables for the given results. */
export function withTables(page: string, results: ScaleResults): string {
  const tables = { run: runTable(results), points: pointsTable(results), model: modelTables(results) };
  return Object.entries(tables).reduce((text, [name, lines]) => {
    const [begin, end] = [`<!-- ${name}: begin -->`, `<!-- ${name}: end -->`];
    const [from, to] = [text.indexOf(begin), text.indexOf(end)];
    if (from < 0 || to < from) throw new Error(`${PAGE} does not contain ${begin} and ${end}`);
    return `${text.slice(0, from)}${begin}\n\n${lines}\n\n${text.slice(to)}`;
  }, page);
}

const NOT_MEASURED = 'Not measured yet.';

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows];
  return lines
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`)
    .join('\n');
}

function measuredOn({ commit, date, machine }: Provenance): string {
  return `Commit ${commit}, ${date}.\n${machine}.`;
}

function runTable({ run }: ScaleResults): string {
  if (run === undefined) return NOT_MEASURED;
  const rows = run.rows.map(({ what, value, bound, holds }) => [
    what,
    value,
    bound ?? '',
    holds === undefined ? '' : holds ? 'met' : '**not met**',
  ]);
  return `${measuredOn(run)}\n${run.settings}.\n\n${table(['check', 'value', 'bound', 'verdict'], rows)}`;
}

function pointsTable({ points }: ScaleResults): string {
  if (points === undefined) return NOT_MEASURED;
  const rows = points.points.map(({ gateways, requestsPerSecond, measured, simulated }) => [
    String(gateways),
    requestsPerSecond.toFixed(0),
    pair(measured.hitRatio, simulated.hitRatio, (value) => percent(value)),
    pair(measured.fetchesPerRead, simulated.fetchesPerRead, (value) => value.toFixed(3)),
    pair(measured.fillsPerPeriod, simulated.fillsPerPeriod, (value) => value.toFixed(3)),
    pair(measured.commandsPerRequest, simulated.commandsPerRequest, (value) => value.toFixed(2)),
  ]);
  const head = [
    'gateways',
    'requests per second',
    'hit ratio',
    'fetches per read',
    'fetches per page and period',
    'Redis commands per request',
  ];
  return `${measuredOn(points)}\nCells show the measured value, the simulated value and, in parentheses, the difference.\n\n${table(head, rows)}`;
}

/** The monthly prices that the model assumes, in US dollars: typical list prices of large cloud providers. */
export const PRICES = { core: 30, gibibyte: 4 };
/** The maximum share of a core that a gateway or Redis may use. The rest is reserved for peaks and failures. */
export const PLANNED_USE = 0.5;
const MIB = 2 ** 20;
/** The memory that a stored page needs in addition to its body: key, headers, tags and index. */
const PAGE_OVERHEAD_BYTES = 1500;

/** What a large fleet requires. */
export interface Needs {
  readonly fleet: LargeFleet;
  readonly commandsPerSecond: number;
  /** The CPU cores needed by one gateway, and those needed by Redis. */
  readonly gatewayCores: number;
  readonly redisCores: number;
  readonly gatewayBytes: number;
  readonly redisBytes: number;
  readonly dollarsPerMonth: number;
  /** The part that reaches its limit first as the load grows. */
  readonly saturatesFirst: string;
}

/** Computes what a large fleet requires. docs/scale.md explains the formulas. */
export function needsOf(fleet: LargeFleet, inputs: ModelInputs): Needs {
  const { idle, record, page, purge, arrival } = fleet.commandsPerSecond;
  const commandsPerSecond = idle + record + page + purge + arrival;
  const perGateway = fleet.requestsPerSecond / fleet.gateways;
  const gatewayCores = (perGateway * inputs.gatewayCpuUsPerRequest) / 1e6;
  const redisCores = (commandsPerSecond * inputs.redisCpuUsPerCommand) / 1e6;
  const pageBytes = inputs.pageBytes + PAGE_OVERHEAD_BYTES;
  // Each read that is not served from memory stores a page in memory.
  const storedPerSecond = perGateway * (1 - fleet.memoryHits);
  const gatewayBytes =
    inputs.gatewayBytes + Math.min(storedPerSecond * inputs.pageSeconds * pageBytes, DEFAULT_CACHE_OPTIONS.maxBytes);
  const redisBytes = fleet.fetchesPerSecond * inputs.pageSeconds * pageBytes;
  // However many cores the machine has, a gateway uses only one, and Redis executes commands on only one.
  const cores = fleet.gateways * Math.max(0.5, gatewayCores / PLANNED_USE) + Math.max(1, redisCores / PLANNED_USE);
  const gibibytes = (fleet.gateways * gatewayBytes + 2 * redisBytes) / 2 ** 30;
  const parts = Object.entries({
    'records of the ledger': record,
    'arrivals of purges': arrival,
    'pages and locks': page,
    'idle gateways': idle,
  });
  const [largest = ''] = parts.toSorted(([, one], [, other]) => other - one)[0] ?? [];
  return {
    fleet,
    commandsPerSecond,
    gatewayCores,
    redisCores,
    gatewayBytes,
    redisBytes,
    dollarsPerMonth: cores * PRICES.core + gibibytes * PRICES.gibibyte,
    saturatesFirst: redisCores > gatewayCores ? `Redis (${largest})` : 'the gateways',
  };
}

/**
 * Returns the number of gateways at which one Redis server fully uses its core. The number of commands for arriving
 * purges grows with the square of the number of gateways, and the number of other commands grows linearly.
 */
export function largestFleet({ gateways, commandsPerSecond }: LargeFleet, inputs: ModelInputs): number {
  const { idle, record, page, purge, arrival } = commandsPerSecond;
  const linear = (idle + record + page + purge) / gateways;
  const square = arrival / gateways ** 2;
  const limit = 1e6 / inputs.redisCpuUsPerCommand;
  return Math.floor((Math.sqrt(linear ** 2 + 4 * square * limit) - linear) / (2 * square));
}

function modelTables({ model }: ScaleResults): string {
  if (model === undefined) return NOT_MEASURED;
  const { inputs, fleets } = model;
  const needs = fleets.map((fleet) => needsOf(fleet, inputs));
  const inputRows = [
    ['CPU time of a gateway per request', `${inputs.gatewayCpuUsPerRequest.toFixed(0)} µs`],
    ['CPU time of Redis per command', `${inputs.redisCpuUsPerCommand.toFixed(1)} µs`],
    ['memory of a gateway without large caches', `${(inputs.gatewayBytes / MIB).toFixed(0)} MiB`],
    ['time for which a page stays stored', `${inputs.pageSeconds} s`],
    ['size of a page', `${grouped(inputs.pageBytes)} bytes, and ${grouped(PAGE_OVERHEAD_BYTES)} for its key and tags`],
  ];
  const last = fleets.at(-1);
  const largest =
    last === undefined
      ? []
      : [
          `At about ${largestFleet(last, inputs)} gateways and ${grouped((largestFleet(last, inputs) * last.callers) / last.gateways)} callers, a single Redis server saturates`,
          'its core.',
        ];
  const load = fleets.map((one) => [
    String(one.gateways),
    grouped(one.callers),
    grouped(one.requestsPerSecond),
    one.writesPerSecond.toFixed(1),
    percent(one.memoryHits),
    percent(one.sharedHits),
    grouped(one.fetchesPerSecond),
    grouped(one.writesPerSecond * one.gateways),
  ]);
  const commands = needs.map(({ fleet, commandsPerSecond }) => [
    String(fleet.gateways),
    ...(['page', 'record', 'arrival', 'idle', 'purge'] as const).map((name) => grouped(fleet.commandsPerSecond[name])),
    grouped(commandsPerSecond),
    (commandsPerSecond / fleet.requestsPerSecond).toFixed(2),
  ]);
  const costs = needs.map((one) => [
    String(one.fleet.gateways),
    one.gatewayCores.toFixed(2),
    one.redisCores.toFixed(2),
    `${grouped(one.gatewayBytes / MIB)} MiB`,
    `${grouped(one.redisBytes / MIB)} MiB`,
    one.saturatesFirst,
    `$${grouped(one.dollarsPerMonth)}`,
  ]);
  return [
    measuredOn(model),
    table(['input', 'measured value'], inputRows),
    'Load, from the simulation:',
    table(
      [
        'gateways',
        'callers',
        'requests/s',
        'writes/s',
        'from memory',
        'from Redis',
        'upstream fetches/s',
        'arrivals of purges/s',
      ],
      load,
    ),
    'Redis commands per second, from the simulation:',
    table(['gateways', 'pages and locks', 'ledger', 'arrivals', 'idle', 'writes', 'all', 'per request'], commands),
    'Needs, from the formulas:',
    table(
      [
        'gateways',
        'cores of a gateway',
        'cores of Redis',
        'memory of a gateway',
        'memory of Redis',
        'largest use of a core',
        'per month',
      ],
      costs,
    ),
    largest.join('\n'),
  ].join('\n\n');
}

/** Formats a measured value and a simulated value for a single cell. */
function pair(measured: number, simulated: number, text: (value: number) => string): string {
  return `${text(measured)} / ${text(simulated)} (${percent(simulated / measured - 1, true)})`;
}

function percent(share: number, signed = false): string {
  const text = `${(share * 100).toFixed(1)}%`;
  return signed && share >= 0 ? `+${text}` : text;
}
