import { formatNumber } from '../format-number.ts';
import type { Machine } from '../machine.ts';

/** Returns a list with the processor, the system, the versions and the missing programs. */
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
      : ['- **This system reports CPU time only in ticks of 10 ms, so short rounds are not accurate.**']),
    ...[...missing].map(([name, reason]) => `- **${name}: ${reason}**`),
  ];
}
