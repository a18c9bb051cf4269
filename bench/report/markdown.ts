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

/** The load above which the results state that the machine was busy before the run. */
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
    '¹ does not authenticate callers, so it does less than the other servers.',
    '',
    ...scenarios.map(scenarioTable),
    ...(latency === undefined ? [] : [latencyTable(latency)]),
    ...(start === undefined ? [] : [startTable(start)]),
    ...(memory === undefined ? [] : [memoryTable(memory)]),
    '## Appendix: configurations',
    '',
    'The configurations of the servers, without port numbers.',
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
  return `Of ${verdicts.length} targets, ${count('met')} were met and ${count('missed')} missed${rest}.`;
}

/** Returns the description of the method. */
const methodOf = ({
  requests,
  maxSeconds,
}: WarmUpRule) => `Exactly one server is alive at a time. It runs on one core; wrk, the upstream and the benchmark share the other one.
Each server is started, verified, warmed up, measured in all its rounds, and stopped before the next one starts. The
yardstick is the CPU time of a fixed task on the same core before the server starts: if the yardsticks of two rows differ,
the speed of the machine changed between them, and their ratio is less reliable.

The warm-up sends at least ${formatNumber(requests, 0)} requests. For servers on V8, it continues until fewer than ${COMPILING_PER_SECOND} functions per
second are optimized, according to V8’s log. It ends after ${maxSeconds} s at the latest, and the row states if it was not complete.

The tables show the median of the rounds, with the smallest and the largest value. CPU per request is the CPU time of all
processes and threads of the server, from the scheduler’s counters, divided by the number of requests. It is the decisive
number, because throughput also depends on the programs on the other core. Ratios compare the medians of the first
Portico of a table (bold) and the server of the row: for CPU, less is better; for requests per second, more.

Before and after the rounds, one response of each server is compared with the upstream’s page byte for byte, and the
headers of Portico’s response must show that it was a hit, a validated miss or a passthrough. In the rounds, the number of
error statuses and the bytes per response must be as expected, and Portico’s metrics must have counted every request
accordingly.`;

function busyNote({ busyBefore }: Machine): string[] {
  if (busyBefore < BUSY) return [];
  return [
    '',
    `**Other programs kept the machine ${(busyBefore * 100).toFixed(0)} % busy before the run began: the numbers are meaningless.**`,
  ];
}

/** Returns one block for each distinct configuration. Configurations that differ only in port numbers share a block. */
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
