import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatNumber } from '../report/format-number.ts';
import { withServer } from '../server.ts';
import type { Session } from '../session.ts';
import { warmUp } from '../visit.ts';
import { type CpuProfile, kindOf, selfTimes } from './work.ts';

/** The time between two samples, in microseconds. */
const INTERVAL_US = 200;
/** How long the rounds of the case last, compared with those of a visit. */
const LONGER = 10;
const SHOWN_FUNCTIONS = 40;

/** Profiles a case of Portico: prints its self times and writes the profile. Returns the exit code. */
export async function measureProfile(name: string, { setting, effort }: Session): Promise<number> {
  const folder = join(setting.folder, 'profile');
  const nodeOptions = ['--cpu-prof', `--cpu-prof-dir=${folder}`, `--cpu-prof-interval=${INTERVAL_US}`];
  const one = setting.casesOf({ nodeOptions }).find(({ id, peer }) => id === name && peer.label === 'Portico');
  if (one === undefined) throw new Error(`there is no case ${name} of Portico`);
  setting.progress.say(`profile of ${name}: ${one.does}`);
  const { cpuUs, from, to } = await withServer(one, setting, async (server) => {
    await warmUp(server, effort.warmUpSeconds, effort.warmUpRequests);
    // The profile's clock is this one.
    const start = nowUs();
    const round = await server.load(effort.roundSeconds * LONGER);
    return { cpuUs: round.cpuUs, from: start, to: nowUs() };
  });
  // Node writes a profile for each thread. That of the main thread has the number 0.
  const written = readdirSync(folder).find((file) => /\.0\.\d+\.cpuprofile$/.test(file));
  if (written === undefined) throw new Error('Portico did not write a profile when it ended');
  const text = readFileSync(join(folder, written), 'utf8');
  const out = join(import.meta.dirname, '..', 'out');
  mkdirSync(out, { recursive: true });
  const file = join(out, `${name}.cpuprofile`);
  writeFileSync(file, text);
  const times = selfTimes(JSON.parse(text) as CpuProfile, from, to);
  process.stdout.write(`\n${tables(times, cpuUs)}`);
  setting.progress.say(
    `written: ${file}; open it in the developer tools of Chromium or in speedscope for a flame graph`,
  );
  return 0;
}

/** Returns the shares of the kinds of work, and of the functions that took longest. */
export function tables(times: ReadonlyMap<string, number>, cpuUs: number): string {
  const total = [...times.values()].reduce((sum, us) => sum + us, 0);
  const kinds = new Map<string, number>();
  for (const [name, us] of times) kinds.set(kindOf(name), (kinds.get(kindOf(name)) ?? 0) + us);
  const lines = (rows: ReadonlyMap<string, number>) =>
    [...rows]
      .sort(([, a], [, b]) => b - a)
      .slice(0, SHOWN_FUNCTIONS)
      .map(([name, us]) => {
        const share = us / total;
        return `${(share * 100).toFixed(1).padStart(5)}% ${formatNumber(share * cpuUs).padStart(7)}  ${name}`;
      });
  const head = `A request takes ${formatNumber(cpuUs)} µs of CPU time while it is profiled, and less otherwise.`;
  return [
    head,
    '',
    'share      µs  kind of work',
    ...lines(kinds),
    '',
    'share      µs  function',
    ...lines(times),
    '',
  ].join('\n');
}

function nowUs(): number {
  return Number(process.hrtime.bigint() / 1000n);
}
