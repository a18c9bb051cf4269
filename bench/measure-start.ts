import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { SERVER_CORE } from './cores.ts';
import { freePort } from './free-port.ts';
import { portico } from './peers/portico.ts';
import { startProgram } from './program.ts';
import type { Setting } from './server.ts';
import { untilReady } from './until-ready.ts';

/** A start of Portico, which nobody has sent a request. */
export interface Start {
  /** From the execution of the program that `npm start` runs until `/readyz` returned 200. */
  readonly readyMs: number;
  /** The resident memory two seconds later, in bytes. */
  readonly idleBytes: number;
}

const IDLE_MS = 2000;

/**
 * Starts a Portico several times. The first start is not measured, because it stores the compiled code that later ones
 * read.
 */
export async function measureStarts(checkout: string, count: number, setting: Setting): Promise<readonly Start[]> {
  const starts: Start[] = [];
  for (let at = 0; at <= count; at += 1) {
    const start = await measureStart(checkout, setting);
    if (at > 0) starts.push(start);
  }
  return starts;
}

async function measureStart(checkout: string, { folder, upstream }: Setting): Promise<Start> {
  const program = await portico({ cache: true }, { checkout }).prepare({
    folder: mkdtempSync(join(folder, 'start-')),
    port: await freePort(),
    upstreamPort: upstream.portOf({ size: '29k', undocumented: false }),
  });
  const port = program.adminPort ?? program.port;
  const startedAt = performance.now();
  const running = await startProgram({ ...program, port }, SERVER_CORE);
  try {
    await untilReady(port);
    const readyMs = performance.now() - startedAt;
    await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
    return { readyMs, idleBytes: running.rssBytes() };
  } finally {
    await running.stop();
  }
}
