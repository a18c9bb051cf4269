import { formatNumber } from '../format-number.ts';
import type { Machine } from '../machine.ts';
import type { Results } from '../results.ts';
import type { ScenarioRow } from '../run-scenario.ts';
import { judgeTargets, type Verdict } from '../targets.ts';
import { machineLines } from './machine-lines.ts';
import { latencyTable, memoryTable, startTable, warmUpTable } from './other-tables.ts';
import { scenarioTable } from './scenario-table.ts';
import { targetsTable } from './targets-table.ts';

/** If the machine's load before the run is above this value, the results report that the machine was busy. */
const BUSY = 0.1;

/** Returns the contents of RESULTS.md: the verdicts and the machine, on one page. */
export function toSummary(results: Results, chart: string): string {
  const verdicts = judgeTargets(results);
  return [
    ...header('Benchmark results', results),
    countLine(verdicts),
    '',
    targetsTable(verdicts),
    `![CPU per request](${chart})`,
    '',
    ...machineLines(results.machine),
    `- The run took ${formatNumber(results.seconds / 60)} minutes.`,
    '',
  ].join('\n');
}

/** Returns the contents of DETAILS.md: all measurements and the servers' configurations. */
export function toDetails(results: Results): string {
  const { scenarios, warmUpCurve, latency, start, memory } = results;
  return [
    ...header('Benchmark results in detail', results),
    ...machineLines(results.machine),
    '',
    '¹ This server does not authenticate callers, so it does less work than the others.',
    '',
    ...scenarios.map(scenarioTable),
    ...(warmUpCurve === undefined ? [] : [warmUpTable(warmUpCurve)]),
    ...(latency === undefined ? [] : [latencyTable(latency)]),
    ...(start === undefined ? [] : [startTable(start)]),
    ...(memory === undefined ? [] : [memoryTable(memory)]),
    '## Configurations',
    '',
    'The servers’ configurations, without port numbers.',
    '',
    ...configurations(scenarios.flatMap(({ rows }) => rows)),
  ].join('\n');
}

function header(title: string, { machine, effort, only, startedAt, failures }: Results): string[] {
  const words = [effort === 'quick' && '--quick', ...only.map((name) => `--only ${name}`)].filter(Boolean);
  const command = ['npm run bench', ...(words.length > 0 ? ['--', ...words] : [])].join(' ');
  return [
    `# ${title}`,
    '',
    `Written by \`${command}\` on ${startedAt.slice(0, 10)}, commit ${machine.commit}; do not edit. The method is in bench/README.md.`,
    ...(effort === 'quick'
      ? ['', '**This was a quick run: the warm-ups and rounds are short, and the numbers are rough.**']
      : []),
    ...failures.flatMap(({ part, message }) => ['', `**${part} failed: ${message.split('\n')[0] ?? ''}**`]),
    ...busyNote(machine),
    '',
  ];
}

function countLine(verdicts: readonly Verdict[]): string {
  const count = (state: Verdict['state']) => verdicts.filter((one) => one.state === state).length;
  const rest = count('not measured') === 0 ? '' : `, ${count('not measured')} not measured`;
  return `Of ${verdicts.length} targets, ${count('met')} were met and ${count('missed')} were missed${rest}.`;
}

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
