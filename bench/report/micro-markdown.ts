import { formatNumber } from '../format-number.ts';
import type { Machine } from '../machine.ts';
import { STAGES } from '../micro/stages/all.ts';
import type { MicroLine } from '../micro/worker.ts';
import { machineLines } from './machine-lines.ts';

const PAID_BY = {
  hit: 'Paid by every hit',
  first: 'Paid by targets that are not remembered',
  miss: 'Paid by misses',
} as const;

/** The whole of MICRO.md. */
export function microMarkdown(lines: readonly MicroLine[], machine: Machine, startedAt: string): string {
  return [
    '# Micro-benchmarks',
    '',
    `Written by \`npm run bench -- --micro\` on ${startedAt.slice(0, 10)}, commit ${machine.commit}; do not edit.`,
    '',
    'Portico’s own modules, put together as a start does, each called in a loop of its own after a warm-up. Texts that a',
    'request brings are new for each call, as they are on a socket. Medians of batches with the smallest and the largest, without',
    'those in which another program got the core; the bytes are what V8 allocated on its heap.',
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
