import { formatNumber } from '../format-number.ts';
import type { Machine } from '../machine.ts';
import { STAGES } from '../micro/stages/all.ts';
import type { MicroLine } from '../micro/worker.ts';
import { machineLines } from './machine-lines.ts';
import type { ReportFile } from './write-files.ts';

const PAID_BY = {
  hit: 'Part of every hit',
  first: 'Only for targets that are not remembered',
  miss: 'Part of every miss',
} as const;

/** Returns the contents of MICRO.md and micro.json. */
export function microFiles(lines: readonly MicroLine[], machine: Machine, startedAt: string): readonly ReportFile[] {
  const { missing: _, ...about } = machine;
  return [
    { name: 'MICRO.md', text: microMarkdown(lines, machine, startedAt) },
    { name: 'micro.json', text: `${JSON.stringify({ startedAt, machine: about, stages: lines }, undefined, 2)}\n` },
  ];
}

function microMarkdown(lines: readonly MicroLine[], machine: Machine, startedAt: string): string {
  return [
    '# Micro-benchmarks',
    '',
    `Written by the benchmark on ${startedAt.slice(0, 10)}, commit ${machine.commit}; do not edit.`,
    '',
    'This page shows the cost of Portico’s own modules, assembled as in the gateway. Each stage is called in a separate loop after a warm-up.',
    'Each call gets new strings, as if they had been read from a socket. The tables show the median of the',
    'batches, with the smallest and the largest value; batches during which another program ran on the core are excluded. The',
    '“bytes/call” column shows how many bytes V8 allocated on its heap for each call.',
    '',
    ...machineLines(machine),
    '',
    ...(['hit', 'first', 'miss'] as const).flatMap((kind) => table(kind, lines)),
  ].join('\n');
}

function table(kind: keyof typeof PAID_BY, lines: readonly MicroLine[]): string[] {
  const rows = STAGES.filter(({ paidBy }) => paidBy === kind).flatMap(({ name, what }) => {
    const line = lines.find((one) => one.name === name);
    if (line === undefined) return [];
    const { median, min, max } = line.nsPerCall;
    const bytes = line.bytesPerCall === undefined ? '—' : formatNumber(line.bytesPerCall, 0);
    return [
      `| ${[name, formatNumber(median), `${formatNumber(min)}–${formatNumber(max)}`, bytes, what].join(' | ')} |`,
    ];
  });
  return [
    `## ${PAID_BY[kind]}`,
    '',
    '| stage | ns/call | min–max | bytes/call | what |',
    '| --- | ---: | ---: | ---: | --- |',
    ...rows,
    '',
  ];
}
