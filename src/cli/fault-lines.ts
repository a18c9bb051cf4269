import type { Fault } from '../model/fault.ts';

/** All faults as one block, each once: source and pointer, what is wrong, and what to write instead. */
export function faultLines(found: readonly Fault[]): string[] {
  // Two steps of the start may meet the same fault.
  const faults = [...new Map(found.map((fault) => [JSON.stringify(fault), fault])).values()];
  const count = faults.length === 1 ? '1 fault' : `${faults.length} faults`;
  return [
    `portico cannot start: ${count}`,
    ...faults.flatMap((fault) => [
      `  ${fault.source}${fault.pointer === '' ? '' : ` ${fault.pointer}`}`,
      `    ${fault.message}${fault.suggestion === undefined ? '' : ` (${fault.suggestion})`}`,
    ]),
  ];
}
