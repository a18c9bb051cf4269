import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/**
 * Returns the number of bytes of heap memory still in use after `work` has run. The result is accurate to about one
 * megabyte.
 */
export async function heldMemory(work: () => unknown): Promise<number> {
  const before = (await memoryInUse()).heapUsed;
  await work();
  return (await memoryInUse()).heapUsed - before;
}

/** Returns a string that shares no memory with any other string. Each number produces a different string. */
export function flatText(number: number, length = 900): string {
  return Buffer.from(String(number).padStart(length, 'x')).toString('latin1');
}

/** Returns the memory of this process that is in use once garbage has been collected. */
export async function memoryInUse(): Promise<NodeJS.MemoryUsage> {
  // Finalizers run, and closing sockets release their memory, in later turns of the event loop.
  for (let turn = 0; turn < 3; turn += 1) {
    collectGarbage();
    await setImmediate();
  }
  return process.memoryUsage();
}
