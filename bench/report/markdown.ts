import type { Results } from '../results.ts';
import { isMet, ROWS } from '../rows.ts';
import { formatNumber } from './format-number.ts';
import { resultsTable } from './table.ts';

/** With more load before the run than this, the results say that the machine was busy. */
const BUSY = 0.1;

/** Returns the contents of RESULTS.md: the table, the picture and the machine. */
export function toMarkdown(results: Results): string {
  const { machine, startedAt, command, failures, stolen, seconds } = results;
  const verdicts = ROWS.map((row) => isMet(row, results));
  const count = (wanted: boolean | undefined) => verdicts.filter((one) => one === wanted).length;
  const busy = `Other programs kept the machine ${(machine.busyBefore * 100).toFixed(0)}% busy before the run`;
  const warnings = [
    ...failures.map(({ part, message }) => `${part} failed: ${message.split('\n')[0] ?? ''}`),
    ...(machine.busyBefore < BUSY ? [] : [`${busy}: the numbers are meaningless.`]),
    ...Object.entries(machine.missing).map(([name, reason]) => `${name}: ${reason}`),
  ];
  const versions = Object.entries(machine.versions).map(([name, version]) => `${name} ${version}`);
  return [
    '# Benchmark results',
    '',
    `Written by \`${command}\` on ${startedAt.slice(0, 10)}, commit ${machine.commit}; do not edit. [README.md](README.md)`,
    'explains the method. Unless stated otherwise, a row compares CPU times per request. The spread is that of rounds with',
    'the same number in the same turn, or of processes.',
    '',
    ...warnings.flatMap((warning) => [`**${warning}**`, '']),
    `Of ${ROWS.length} goals, ${count(true)} were met, ${count(false)} missed and ${count(undefined)} not measured.`,
    '',
    resultsTable(results),
    '![CPU time per request](results.svg)',
    '',
    `- ${machine.cpu}, ${machine.cores} cores; ${machine.system}`,
    `- ${versions.join(', ')}`,
    `- The run took ${formatNumber(seconds / 60)} minutes, in which ${formatNumber(stolen * 100)}% of the time went to other virtual machines.`,
    '',
  ].join('\n');
}
