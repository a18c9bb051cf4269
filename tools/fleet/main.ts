import { createProgress } from '../../bench/progress.ts';
import { readCommandLine, wrongUsage } from '../command-line.ts';
import { assess, figuresOf, type Row } from './assess.ts';
import { compareRuns, differencesOf, simulateLarge } from './compare.ts';
import { findPrograms, type Programs } from './programs.ts';
import { type FleetRun, type FleetSettings, runFleet, STALE_IF_ERROR_SECONDS } from './run-fleet.ts';
import { provenance, writeResults } from './scale-page.ts';

const HELP = `Runs a fleet of gateways under load, kills one, restarts Redis, and checks what callers see.

Usage: npm run fleet [-- FLAGS]

  --seconds N          Duration of the load; 300 by default, at least 45.
  --quick              45 seconds, with shorter freshness and bounds.
  --replicas N         Number of gateways; 4 by default.
  --callers N          Number of callers; 64 by default.
  --rate N             Requests per second of all callers together; 300 by default.
  --write-share X      Share of the requests that are writes; 0.005 by default.
  --seed N             Seed of the random requests; 1 by default.
  --balancer NAME      haproxy or nginx; by default, haproxy if it is installed.
  --undisturbed        Kill and restart nothing.
  --simulate           Run 1, 2 and 4 gateways undisturbed for 40 seconds each, simulate the same fleets, compare the
                       results, and simulate fleets with up to 100 gateways and 1,000,000 callers.
  --write              Replace the tables of docs/scale.md that the results belong to.
  --help               Show this help.

It needs redis-server (or valkey-server) and haproxy (or nginx).

The exit code is 0 if all bounds are met and the simulation differs by at most 15%, 1 if not, and 2 for a wrong command
line or a missing program.`;

const { values } = readCommandLine(HELP, {
  seconds: { type: 'string' },
  quick: { type: 'boolean', default: false },
  replicas: { type: 'string', default: '4' },
  callers: { type: 'string', default: '64' },
  rate: { type: 'string', default: '300' },
  'write-share': { type: 'string', default: '0.005' },
  seed: { type: 'string', default: '1' },
  balancer: { type: 'string' },
  simulate: { type: 'boolean', default: false },
  write: { type: 'boolean', default: false },
  undisturbed: { type: 'boolean', default: false },
});

function numberOf(flag: string, text: string, from: number, to: number): number {
  const value = Number(text);
  return value >= from && value <= to ? value : wrongUsage(`${flag} must be a number from ${from} to ${to}`);
}

function settingsOf(): FleetSettings {
  const { quick } = values;
  return {
    seconds: numberOf('--seconds', values.seconds ?? (quick ? '45' : '300'), 45, 86_400),
    gateways: numberOf('--replicas', values.replicas, 1, 64),
    callers: numberOf('--callers', values.callers, 1, 10_000),
    perSecond: numberOf('--rate', values.rate, 1, 100_000),
    writeShare: numberOf('--write-share', values['write-share'], 0, 1),
    seed: numberOf('--seed', values.seed, 0, 1e9),
    freshSeconds: quick ? 2 : 10,
    staleSeconds: quick ? 1 : 5,
    earlyRefresh: 0.1,
    maxUnsyncedSeconds: quick ? 2 : 5,
    upstreamMs: [20, 60],
    disturbed: !values.undisturbed,
    probes: true,
  };
}

function printRows(rows: readonly Row[]): void {
  for (const { what, value, bound, holds, examples = [] } of rows) {
    const verdict = holds === undefined ? '        ' : holds ? 'holds   ' : 'BROKEN  ';
    console.log(`${verdict}${what}: ${value}${bound === undefined ? '' : ` (bound: ${bound})`}`);
    if (holds === false) for (const example of examples) console.log(`          ${example}`);
  }
}

/** Runs the fleet once and checks the results. Returns whether all of them are within their bounds. */
async function check(settings: FleetSettings, programs: Programs, say: (text: string) => void): Promise<boolean> {
  const run = await runFleet(settings, programs, say);
  const rows = assess(run);
  printRows(rows);
  if (values.write) writeResults({ run: { ...provenance(), settings: describeSettings(settings, programs), rows } });
  return rows.every(({ holds }) => holds !== false);
}

function describeSettings(settings: FleetSettings, { balancer }: Programs): string {
  const { gateways, callers, seconds, perSecond, writeShare, freshSeconds, staleSeconds, upstreamMs } = settings;
  return [
    `${gateways} gateways behind ${balancer.kind}, ${callers} callers, ${perSecond} requests per second for ${seconds} s, ${writeShare * 100}% writes`,
    `pages are fresh for ${freshSeconds} s and then stale for ${staleSeconds} s`,
    `the upstream takes ${upstreamMs.join(' to ')} ms`,
  ].join(';\n');
}

const MEASURED_FLEETS = [1, 2, 4];
const LARGE_FLEETS = [4, 10, 30, 100];

/** Measures and simulates small fleets, and simulates large ones. Returns whether measurement and simulation agree. */
async function compare(settings: FleetSettings, programs: Programs, say: (text: string) => void): Promise<boolean> {
  const runs: FleetRun[] = [];
  for (const gateways of MEASURED_FLEETS) {
    const seconds = values.seconds === undefined ? 40 : settings.seconds;
    const short = { seconds, freshSeconds: 5, staleSeconds: 3, disturbed: false, probes: false };
    runs.push(await runFleet({ ...settings, ...short, gateways }, programs, say));
  }
  const points = await compareRuns(runs);
  for (const { gateways, measured, simulated } of points)
    for (const name of Object.keys(measured) as (keyof typeof measured)[])
      console.log(
        `${gateways} gateways, ${name}: measured ${measured[name].toFixed(3)}, simulated ${simulated[name].toFixed(3)}`,
      );
  const largest = runs.at(-1) as FleetRun;
  const fleets = [];
  for (const gateways of LARGE_FLEETS) {
    say(`simulating ${gateways} gateways`);
    fleets.push(await simulateLarge(largest, gateways));
  }
  const { gatewayCpuUsPerRequest, redisCpuUsPerCommand } = figuresOf(largest);
  const inputs = {
    gatewayCpuUsPerRequest,
    redisCpuUsPerCommand,
    gatewayBytes: Math.max(...largest.rssBytes),
    pageBytes: largest.pageBytes,
    pageSeconds: largest.settings.freshSeconds + STALE_IF_ERROR_SECONDS,
  };
  for (const fleet of fleets) console.log(JSON.stringify(fleet));
  const results = { points: { ...provenance(), points }, model: { ...provenance(), inputs, fleets } };
  if (values.write) writeResults(results);
  const differences = differencesOf(points);
  for (const difference of differences) console.log(`too different: ${difference}`);
  return differences.length === 0;
}

// When this process exits, the processes in the run must also exit.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

const settings = settingsOf();
const { balancer } = values;
if (balancer !== undefined && balancer !== 'haproxy' && balancer !== 'nginx')
  wrongUsage('--balancer must be haproxy or nginx');
const programs = findPrograms(balancer);
if ('missing' in programs) {
  // The command line is right, so the message does not point to --help.
  console.error(programs.missing.join('\n'));
  process.exit(2);
}
const progress = createProgress(Date.now());
const say = (text: string) => progress.say(text);
process.exit((await (values.simulate ? compare(settings, programs, say) : check(settings, programs, say))) ? 0 : 1);
