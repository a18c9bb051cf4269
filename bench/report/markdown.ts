import { formatNumber } from '../format-number.ts';
import type { Machine } from '../machine.ts';
import type { Results } from '../results.ts';
import type { ScenarioRow } from '../run-scenario.ts';
import { judgeTargets, type Verdict } from '../targets.ts';
import { COMPILING_PER_SECOND, type WarmUpRule } from '../warm-up.ts';
import { machineLines } from './machine-lines.ts';
import { latencyTable, memoryTable, startTable } from './other-tables.ts';
import { scenarioTable } from './scenario-table.ts';
import { targetsTable } from './targets-table.ts';

/** If the machine's load before the run is above this value, the results report that the machine was busy. */
const BUSY = 0.1;

/** Returns the contents of RESULTS.md. */
export function toMarkdown(results: Results, chart: string | undefined): string {
  const { machine, scenarios, latency, start, memory, effort, startedAt } = results;
  const words = [effort === 'quick' && '--quick', ...results.only.map((name) => `--only ${name}`)].filter(Boolean);
  const command = ['npm run bench', ...(words.length > 0 ? ['--', ...words] : [])].join(' ');
  const verdicts = judgeTargets(results);
  return [
    '# Benchmark results',
    '',
    `Written by \`${command}\` on ${startedAt.slice(0, 10)}, commit ${machine.commit}; do not edit.`,
    ...(effort === 'quick'
      ? ['', '**This was a quick run: the warm-ups and rounds are short, and the numbers are rough.**']
      : []),
    ...results.failures.flatMap(({ part, message }) => ['', `**${part} failed: ${message.split('\n')[0] ?? ''}**`]),
    ...busyNote(machine),
    '',
    '## Targets',
    '',
    countLine(verdicts),
    '',
    targetsTable(verdicts),
    ...(chart === undefined ? [] : [`![CPU per request](${chart})`, '']),
    ...otherFiles(results),
    '## Machine',
    '',
    ...machineLines(machine),
    `- The run took ${formatNumber(results.seconds / 60)} minutes.`,
    '',
    '## How it was measured',
    '',
    methodOf(results.warmUp),
    '',
    '## Results',
    '',
    '¹ This server does not authenticate callers, so it does less work than the others.',
    '',
    ...scenarios.map(scenarioTable),
    ...(latency === undefined ? [] : [latencyTable(latency)]),
    ...(start === undefined ? [] : [startTable(start)]),
    ...(memory === undefined ? [] : [memoryTable(memory)]),
    '## Appendix: configurations',
    '',
    'The servers’ configurations, without port numbers.',
    '',
    ...configurations(scenarios.flatMap(({ rows }) => rows)),
  ].join('\n');
}

function otherFiles({ files }: Results): string[] {
  const shown = files.filter((name) => name.endsWith('.md'));
  if (shown.length === 0) return [];
  return [`Also from this run: ${shown.map((name) => `[${name}](${name})`).join(', ')}.`, ''];
}

function countLine(verdicts: readonly Verdict[]): string {
  const count = (state: Verdict['state']) => verdicts.filter((one) => one.state === state).length;
  const rest = count('not measured') === 0 ? '' : `, ${count('not measured')} not measured`;
  return `Of ${verdicts.length} targets, ${count('met')} were met and ${count('missed')} were missed${rest}.`;
}

/** Returns the description of the method. */
const methodOf = ({ requests, maxSeconds }: WarmUpRule) =>
  `Only one server runs at a time. It has one core to itself; wrk, the upstream and the benchmark share the other one.
Each server is started, verified, warmed up, measured in all its rounds, and stopped before the next one starts. The
yardstick is the CPU time that a fixed task takes on the same core just before the server starts. If the yardsticks of
two rows differ, the machine’s speed changed between the two measurements, and the ratio of the rows is less reliable.

The warm-up sends at least ${formatNumber(requests, 0)} requests. For V8-based servers, it continues until fewer than ${COMPILING_PER_SECOND} functions per second
are optimized, according to V8’s log. It takes at most ${maxSeconds} s. If a server needs longer, its row states that the warm-up
was incomplete.

The tables show the median of the rounds, with the smallest and the largest value. CPU per request is the CPU time of
all the server’s processes and threads, from the scheduler’s counters, divided by the number of requests. It is the
most important number, because throughput also depends on the programs on the other core. Ratios compare the medians
of the table’s first Portico row (bold) with those of the other rows: for CPU, lower is better; for requests per
second, higher is better.

Before and after the rounds, one response from each server is compared byte for byte with the upstream’s page, and the
headers of Portico’s response must show that it was a hit, a validated miss or a passthrough. During the rounds, the
number of error statuses and the bytes per response must be as expected, and Portico’s metrics must account for every
request.`;

function busyNote({ busyBefore }: Machine): string[] {
  if (busyBefore < BUSY) return [];
  return [
    '',
    `**Other programs kept the machine ${(busyBefore * 100).toFixed(0)}% busy before the run began: the numbers are meaningless.**`,
  ];
}

/**
 * Returns one block for each distinct configuration. Configurations that differ only in their port numbers share a
 * block.
 */
function configurations(rows: readonly ScenarioRow[]): string[] {
  const blocks = new Map<string, Set<string>>();
  for (const { label, configuration } of rows) {
    const text = withoutPorts(configuration);
    blocks.set(text, (blocks.get(text) ?? new Set()).add(label));
  }
  return [...blocks].flatMap(([text, labels]) => [
    `<details><summary>${[...labels].join('; ')}</summary>`,
    '',
    '````text',
    text.trimEnd(),
    '````',
    '',
    '</details>',
    '',
  ]);
}

function withoutPorts(configuration: string): string {
  return configuration
    .replaceAll(/(127\.0\.0\.1:)\d+/g, '$1PORT')
    .replaceAll(/("(?:port|adminPort)": )\d+/g, '$1PORT')
    .replaceAll(/(\.port = ")\d+/g, '$1PORT');
}
