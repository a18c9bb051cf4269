import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Arguments } from '../arguments.ts';
import { type ReportFile, writeFiles } from '../report/write-files.ts';
import { measureRound, type Round, type RunContext, startEntry, warmEntry } from '../run-scenario.ts';
import { allScenarios } from '../scenarios/all.ts';
import type { Entry, Rounds, Scenario } from '../scenarios/scenario.ts';
import type { Session } from '../session.ts';
import { spreadOf } from '../spread.ts';
import type { CpuProfile } from './cpu-profile.ts';
import { flameGraph } from './flame-graph.ts';
import { profileMarkdown } from './profile-markdown.ts';
import { toStacks } from './stacks.ts';

/** The number and duration of the profiled rounds. */
const FULL: Rounds = { count: 3, seconds: 3 };
const QUICK: Rounds = { count: 2, seconds: 0.5 };

/** The time between two samples, in microseconds. */
const INTERVAL_US = 200;

/** How long Portico may take to write its profile when it stops, in milliseconds. */
const WRITING_MS = 30_000;

/**
 * Profiles the first Portico peer in a scenario and writes a summary, a flame graph and the profile. Returns the exit
 * code.
 */
export async function measureProfile(name: string, args: Arguments, session: Session): Promise<number> {
  const { files, profile } = await profileScenario(name, args.quick ? QUICK : FULL, session);
  const out = args.out === undefined ? join(import.meta.dirname, '..', 'out') : resolve(args.out);
  const all = [...files, { name: `profile-${name}.cpuprofile`, text: JSON.stringify(profile) }];
  writeFiles(all, out);
  session.context.progress.say(`written to ${out}: ${all.map((file) => file.name).join(', ')}`);
  return 0;
}

async function profileScenario(
  name: string,
  duration: Rounds,
  { context, effort, machine, startedAt }: Session,
): Promise<{ readonly files: readonly ReportFile[]; readonly profile: CpuProfile }> {
  const scenario = allScenarios(effort).find(({ id }) => id === name);
  const entry = scenario?.entries.find(({ peer }) => peer.withNodeOptions !== undefined);
  if (scenario === undefined || entry === undefined) throw new Error(`there is no scenario ${name} with a Portico`);
  context.progress.say(`Profile: ${entry.peer.label}; ${scenario.title}`);
  const { profile, window, rounds } = await runProfiled(scenario, entry, duration, context);
  const stacks = toStacks(profile, window);
  const cpuUs = spreadOf(rounds.map((round) => round.cpuUs)).median;
  const title = `${entry.peer.label}; ${scenario.title}`;
  const picture = `profile-${name}.svg`;
  const summary = profileMarkdown(stacks, { title, name, cpuUs, startedAt, machine, picture });
  const files = [
    { name: `profile-${name}.md`, text: summary },
    { name: picture, text: flameGraph(stacks, `${title}; commit ${machine.commit}`) },
  ];
  return { files, profile };
}

async function runProfiled(
  scenario: Scenario,
  { peer, request }: Entry,
  { count, seconds }: Rounds,
  context: RunContext,
) {
  const folder = join(context.folder, 'profile');
  const options = ['--cpu-prof', `--cpu-prof-dir=${folder}`, `--cpu-prof-interval=${INTERVAL_US}`];
  const entry = { request, peer: peer.withNodeOptions?.(options) ?? peer };
  const one = await startEntry(scenario, entry, context);
  try {
    await warmEntry(scenario, one, context);
    // Both this clock and the profile's clock start when the machine boots.
    const from = nowUs();
    const rounds: Round[] = [];
    for (let round = 0; round < count; round += 1) rounds.push(await measureRound(scenario, one, seconds));
    const window = { fromUs: from, toUs: nowUs() };
    process.kill(one.started.running.pid, 'SIGTERM');
    return { profile: await written(folder), window, rounds };
  } finally {
    await one.started.running.stop();
  }
}

function nowUs(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

/** Reads the profile, which Node writes when the process ends. The file is complete once it can be parsed. */
async function written(folder: string): Promise<CpuProfile> {
  for (const giveUpAt = performance.now() + WRITING_MS; performance.now() < giveUpAt;) {
    await new Promise((resolvePause) => setTimeout(resolvePause, 200));
    try {
      const name = readdirSync(folder).find((one) => one.endsWith('.cpuprofile'));
      if (name !== undefined) return JSON.parse(readFileSync(join(folder, name), 'utf8')) as CpuProfile;
    } catch {
      // The file does not exist yet, or it is incomplete.
    }
  }
  throw new Error('Portico did not write a profile when it ended');
}
