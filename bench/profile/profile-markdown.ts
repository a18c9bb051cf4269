import { formatNumber } from '../format-number.ts';
import type { Machine } from '../machine.ts';
import { machineLines } from '../report/machine-lines.ts';
import { type Frame, framesOf } from './stacks.ts';

/** What was profiled, when, and on which machine. */
export interface ProfileFacts {
  readonly title: string;
  readonly name: string;
  /** The CPU time of a single request under the profiler, in microseconds. */
  readonly cpuUs: number;
  readonly startedAt: string;
  readonly machine: Machine;
  readonly picture: string;
}

const SHOWN_FUNCTIONS = 40;

interface Row {
  readonly name: string;
  readonly place: string;
  readonly us: number;
}

/** Returns a summary of the profile: the self time by kind of work, by file and by function. */
export function profileMarkdown(
  root: Frame,
  { title, name, cpuUs, startedAt, machine, picture }: ProfileFacts,
): string {
  const frames = [...framesOf(root)].filter(({ self }) => self > 0);
  const groups = summed(frames, ({ group }) => ({ name: group, place: '' }));
  const files = summed(
    frames.filter(({ group, place }) => group.startsWith('Portico') && place !== ''),
    ({ place }) => ({ name: place.replace(/:\d+$/, ''), place: '' }),
  );
  const functions = summed(frames, (frame) => frame);
  const cells = (us: number) => `${((us / root.total) * 100).toFixed(1)}% | ${((us / root.total) * cpuUs).toFixed(2)}`;
  const lines = (rows: readonly Row[]) => rows.map((row) => `| ${row.name} | ${cells(row.us)} |`);
  return [
    `# Profile: ${title}`,
    '',
    `Written by \`npm run bench -- --profile ${name}\` on ${startedAt.slice(0, 10)}, commit ${machine.commit}; do not edit.`,
    '',
    `The tables show self time over ${formatNumber(root.total / 1e6)} s of work, excluding idle time. With the profiler running, a`,
    `request took ${formatNumber(cpuUs)} µs of CPU time on average, including the time of V8's other threads; without the profiler, it takes`,
    "less. The “share” column shows each row's share of the self time, and the “µs/request” column shows the same share of",
    `the ${formatNumber(cpuUs)} µs.`,
    '',
    ...machineLines(machine),
    '',
    `![Flame graph](${picture})`,
    '',
    '## By kind of work',
    '',
    '| work | share | µs/request |',
    '| --- | ---: | ---: |',
    ...lines(groups),
    '',
    '## Portico by file',
    '',
    '| file | share | µs/request |',
    '| --- | ---: | ---: |',
    ...lines(files.slice(0, SHOWN_FUNCTIONS)),
    '',
    '## By function',
    '',
    '| function | share | µs/request | where |',
    '| --- | ---: | ---: | --- |',
    ...functions.slice(0, SHOWN_FUNCTIONS).map((row) => `| \`${short(row.name)}\` | ${cells(row.us)} | ${row.place} |`),
    '',
  ].join('\n');
}

/** Returns the self times of frame groups, in descending order. */
function summed(frames: readonly Frame[], of: (frame: Frame) => Pick<Row, 'name' | 'place'>): readonly Row[] {
  const rows = new Map<string, Row>();
  for (const frame of frames) {
    const { name, place } = of(frame);
    const key = `${name} ${place}`;
    rows.set(key, { name, place, us: (rows.get(key)?.us ?? 0) + frame.self });
  }
  return [...rows.values()].sort((a, b) => b.us - a.us);
}

/** Shortens a name. V8 names a regular expression after its source, which can be long and can break a table. */
function short(name: string): string {
  const text = name.length > 48 ? `${name.slice(0, 47)}…` : name;
  return text.replaceAll('|', '\\|').replaceAll('`', "'");
}
