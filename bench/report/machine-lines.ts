import { formatNumber } from '../format-number.ts';
import type { Machine } from '../machine.ts';

/** Processor, system, versions, and what was missing, as a list. */
export function machineLines({
  cpu,
  cores,
  memoryBytes,
  system,
  kernel,
  versions,
  exactCpuTime,
  missing,
}: Machine): string[] {
  return [
    `- ${cpu}, ${cores} cores, ${formatNumber(memoryBytes / 1e9, 0)} GB; ${system}, Linux ${kernel}`,
    `- ${Object.entries(versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(', ')}`,
    ...(exactCpuTime
      ? []
      : ['- **This system tells processor time in ticks of 10 ms only: short rounds say little.**']),
    ...[...missing].map(([name, reason]) => `- **${name}: ${reason}**`),
  ];
}
