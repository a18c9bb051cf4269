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

/** Above this share of time, the machine was not idle before the run, and the results state it. */
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
    ...(effort === 'quick' ? ['', '**A quick run: warm-ups and rounds are short, and the numbers rough.**'] : []),
    ...results.failures.flatMap(({ part, message }) => ['', `**${part} failed: ${message.split('\n')[0] ?? ''}**`]),
    ...busyNote(machine),
    '',
    '## Goals',
    '',
    countLine(verdicts),
    '',
    targetsTable(verdicts),
    ...(chart === undefined ? [] : [`![CPU per request](${chart})`, '']),
    ...otherFiles(results),
    '## Machine',
    '',
    ...machineLines(machine),
    '',
    '## How it was measured',
    '',
    methodOf(results.warmUp),
    '',
    '## Results',
    '',
    '¹ does not authenticate callers, so it does less than the others.',
    '',
    ...scenarios.map(scenarioTable),
    ...(latency === undefined ? [] : [latencyTable(latency)]),
    ...(start === undefined ? [] : [startTable(start)]),
    ...(memory === undefined ? [] : [memoryTable(memory)]),
    '## Appendix: configurations',
    '',
    'The configurations as they were used, without the numbers of ports.',
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
  const rest = count('not measured') === 0 ? '' : `, ${count('not measured')} were not measured`;
  return `${count('met')} of ${verdicts.length} are met, ${count('missed')} are missed${rest}.`;
}

/** The method of a run with that warm-up. */
const methodOf = ({
  requests,
  maxSeconds,
}: WarmUpRule) => `Exactly one server is alive at a time. It runs on one core; wrk, the upstream and the benchmark share the other one. It is
started, one of its responses is proved, it is warmed, measured in all of its rounds, and stopped before the next server of
the table starts. Rounds of several servers are not interleaved, because each start would need a warm-up of its own and a
run would take hours. Instead, a fixed piece of work on the server’s core is timed before each server starts (“yardstick”):
servers whose yardsticks differ ran while the machine had different speeds, and so does their ratio.

The warm-up is the same for all servers: windows of one second, until at least ${formatNumber(requests, 0)} requests were sent and, for servers
on V8, fewer than ${COMPILING_PER_SECOND} functions per second were optimized in the last window, by V8’s own log (\`--trace-opt\`). It ends
after ${maxSeconds} s in any case; rows where it was not complete by then are marked. Servers with a smaller warm-up are listed with
the reason.

The table shows the median, smallest and largest of the rounds. CPU per request is what the scheduler charged to all
processes and threads of the server (\`/proc/PID/task/*/schedstat\`), divided by the requests. It decides, because the
throughput is also limited by the load generator on the other core. Ratios are those of the medians of the first Portico
of a table (bold) and of the server of the row: for CPU less is better, for requests per second more.

Before and after the rounds, one response of each server is compared with the page of the upstream byte for byte, and
headers of Portico must prove how it was made. In every round and window, the number of error statuses and the bytes per
response must be the expected ones, and Portico’s metrics must have counted every request as the expected kind.`;

function busyNote({ busyBefore }: Machine): string[] {
  if (busyBefore < BUSY) return [];
  return [
    '',
    `**Other programs kept the machine ${(busyBefore * 100).toFixed(0)} % busy before the run started: the numbers mean little.**`,
  ];
}

/** Returns one block for each distinct configuration, without port numbers. */
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
