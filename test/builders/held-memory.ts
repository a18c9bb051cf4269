import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** The heap bytes still in use after some work, minus those before it. Suitable only for differences of megabytes. */
export async function heldMemory(work: () => unknown): Promise<number> {
  const before = await heapUsed();
  await work();
  return (await heapUsed()) - before;
}

/** A text with its own memory, not a slice of another one; different for every number. */
export function flatText(number: number, length = 900): string {
  return Buffer.from(String(number).padStart(length, 'x')).toString('latin1');
}

async function heapUsed(): Promise<number> {
  // Memory held by finalizers and closing sockets is released in later turns of the event loop.
  for (let turn = 0; turn < 3; turn += 1) {
    collectGarbage();
    await setImmediate();
  }
  return process.memoryUsage().heapUsed;
}
