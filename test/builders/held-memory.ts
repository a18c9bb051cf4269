import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Returns how many bytes of heap memory are still in use after `work`. The result is accurate to about a megabyte. */
export async function heldMemory(work: () => unknown): Promise<number> {
  const before = await heapUsed();
  await work();
  return (await heapUsed()) - before;
}

/**
 * Returns a string that has its own memory instead of sharing another string's. Each number produces a different
 * string.
 */
export function flatText(number: number, length = 900): string {
  return Buffer.from(String(number).padStart(length, 'x')).toString('latin1');
}

async function heapUsed(): Promise<number> {
  // Finalizers and closing sockets release their memory in later turns of the event loop.
  for (let turn = 0; turn < 3; turn += 1) {
    collectGarbage();
    await setImmediate();
  }
  return process.memoryUsage().heapUsed;
}
