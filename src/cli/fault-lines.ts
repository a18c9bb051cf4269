import type { Fault } from '../model/fault.ts';

/** All faults as one block: source and pointer, what is wrong, and what to write instead. */
export function faultLines(faults: readonly Fault[]): string[] {
  const count = faults.length === 1 ? '1 fault' : `${faults.length} faults`;
  return [
    `portico cannot start: ${count}`,
    ...faults.flatMap((fault) => [
      `  ${fault.source}${fault.pointer === '' ? '' : ` ${fault.pointer}`}`,
      `    ${fault.message}${fault.suggestion === undefined ? '' : ` (${fault.suggestion})`}`,
    ]),
  ];
}
