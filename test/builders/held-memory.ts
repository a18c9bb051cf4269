import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Returns how many more heap bytes are in use after some work than before it, accurate only to about a megabyte. */
export async function heldMemory(work: () => unknown): Promise<number> {
  const before = await heapUsed();
  await work();
  return (await heapUsed()) - before;
}

/** Returns a text that has its own memory and is not part of another text. Each number gives a different text. */
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
