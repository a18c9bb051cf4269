import { readFileSync } from 'node:fs';

/** The processor time of the whole machine since it started, in ticks. */
export interface MachineTime {
  readonly total: number;
  /** The time without work, including that spent waiting for input and output. */
  readonly idle: number;
  /** The time during which a virtual machine could have run but its host ran something else. */
  readonly stolen: number;
}

/** Reads the machine's processor time. Returns undefined where the kernel does not provide it (it does on Linux). */
export function readMachineTime(path = '/proc/stat'): MachineTime | undefined {
  try {
    return parseMachineTime(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

/**
 * Parses the first line of `/proc/stat`: user, nice, system, idle, iowait, irq, softirq and steal. The two columns that
 * follow are already part of `user` and `nice`.
 */
export function parseMachineTime(text: string): MachineTime | undefined {
  const ticks = /^cpu +(\d+(?: \d+){7})/.exec(text)?.[1]?.split(' ').map(Number);
  if (ticks === undefined) return undefined;
  const [, , , idle = 0, waiting = 0, , , stolen = 0] = ticks;
  return { total: ticks.reduce((sum, one) => sum + one, 0), idle: idle + waiting, stolen };
}

/** Returns the share of the processor time that was stolen between two readings, from 0 to 1. */
export function stolenShare(before: MachineTime | undefined, after: MachineTime | undefined): number {
  if (before === undefined || after === undefined || after.total <= before.total) return 0;
  return (after.stolen - before.stolen) / (after.total - before.total);
}
