import type { Machine } from '../machine.ts';
import type { Results } from '../results.ts';
import type { ScenarioRow } from '../run-scenario.ts';
import { judgeTargets, type Verdict } from '../targets.ts';
import { machineLines } from './machine-lines.ts';
import { latencyTable, memoryTable, startTable } from './other-tables.ts';
import { scenarioTable } from './scenario-table.ts';
import { targetsTable } from './targets-table.ts';

/** Above this share the machine was not idle before the run, and the results say so. */
const BUSY = 0.1;

/** The whole of RESULTS.md. */
export function toMarkdown(results: Results, chart: string | undefined): string {
  const { machine, scenarios, latency, start, memory, effort, startedAt } = results;
  const words = [effort === 'quick' && '--quick', ...results.only.map((name) => `--only ${name}`)].filter(Boolean);
  const command = ['npm run bench', ...(words.length > 0 ? ['--', ...words] : [])].join(' ');
  const verdicts = judgeTargets(results);
  return [
    '# Benchmark results',
    '',
    `Written by \`${command}\` on ${startedAt.slice(0, 10)}, commit ${machine.commit}; do not edit.`,
    ...(effort === 'quick' ? ['', '**A quick run: rounds are short and the numbers rough.**'] : []),
    ...results.failures.flatMap(({ part, message }) => ['', `**${part} failed: ${message.split('\n')[0] ?? ''}**`]),
    ...busyNote(machine),
    '',
    '## What must be reached',
    '',
    countLine(verdicts),
    '',
    targetsTable(verdicts),
    ...(chart === undefined ? [] : [`![CPU per request](${chart})`, '']),
    '## Machine',
    '',
    ...machineLines(machine),
    '',
    '## How it was measured',
    '',
    METHOD,
    '',
    '## Results',
    '',
    '¹ asks nobody who they are: it does less than the others.',
    '',
    ...scenarios.map(scenarioTable),
    ...(latency === undefined ? [] : [latencyTable(latency)]),
    ...(start === undefined ? [] : [startTable(start)]),
    ...(memory === undefined ? [] : [memoryTable(memory)]),
    '## Appendix: configurations',
    '',
    'As they were, but for the numbers of ports.',
    '',
    ...configurations(scenarios.flatMap(({ rows }) => rows)),
  ].join('\n');
}

function countLine(verdicts: readonly Verdict[]): string {
  const count = (state: Verdict['state']) => verdicts.filter((one) => one.state === state).length;
  const rest = count('not measured') === 0 ? '' : `, ${count('not measured')} were not measured`;
  return `${count('holds')} of ${verdicts.length} hold, ${count('missed')} are missed${rest}.`;
}

const METHOD = `Each server runs alone on one core; wrk, the upstream and the benchmark itself share the other one. All servers of a table
run at the same time and are measured in turn, in an order that rotates from round to round, after a warm-up that is not
counted. Medians of the rounds are shown, with the smallest and the largest. CPU per request is what the operating system
charged to the server's whole process tree, divided by the requests; it is the decisive number, because throughput is also
bound by what shares the other core. Before the rounds one answer of each server is compared with the upstream's page byte
for byte, and Portico's fields must show which way it came; in the rounds the number of error statuses and the bytes per
answer must be what was expected, and Portico's own metrics must have counted every request as what was meant. Ratios are
of the first Portico of a table (bold) over the server of the row: for CPU less is better, for requests per second more.`;

function busyNote({ busyBefore }: Machine): string[] {
  if (busyBefore < BUSY) return [];
  return ['', `**Other work kept the machine ${(busyBefore * 100).toFixed(0)} % busy before the run began.**`];
}

/** One block for each distinct configuration, with numbers of ports left out. */
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
