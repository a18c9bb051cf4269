import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** The bytes of heap that are still in use after some work, beyond those before it. Only good for differences of megabytes. */
export async function heldMemory(work: () => unknown): Promise<number> {
  const before = await heapUsed();
  await work();
  return (await heapUsed()) - before;
}

/** A text of its own in memory, not a part of another one; different for every number. */
export function flatText(number: number, length = 900): string {
  return Buffer.from(String(number).padStart(length, 'x')).toString('latin1');
}

async function heapUsed(): Promise<number> {
  // What finalizers and closing sockets hold is let go in later turns.
  for (let turn = 0; turn < 3; turn += 1) {
    collectGarbage();
    await setImmediate();
  }
  return process.memoryUsage().heapUsed;
}
