import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import type { Case } from './cases.ts';
import { SERVER_CORE } from './cores.ts';
import { countMetric } from './count-metric.ts';
import { freePort } from './free-port.ts';
import { createLoad, type SendLoad } from './load.ts';
import { type Running, startProgram } from './program.ts';
import type { Upstream } from './start-upstream.ts';
import { untilReady } from './until-ready.ts';
import { verifyResponse } from './verify-response.ts';

/** What all servers of a run share. */
export interface Setting {
  readonly folder: string;
  readonly upstream: Upstream;
}

/** A running server whose response has been verified. */
export interface Server {
  readonly running: Running;
  readonly port: number;
  readonly load: SendLoad;
}

/** Counts violations in responses, except for undocumented fields if the page has some. */
const VIOLATIONS = /^portico_contract_violations_total\{.*direction="response"/;
const OTHER_VIOLATIONS = /^portico_contract_violations_total\{(?!.*category="undocumented").*direction="response"/;

/** Starts a case's server, verifies its response before and after the step, and stops it. */
export async function withServer<T>(
  one: Case,
  { folder, upstream }: Setting,
  step: (server: Server) => Promise<T>,
): Promise<T> {
  const port = await freePort();
  const own = mkdtempSync(join(folder, `${one.id}-`));
  const program = await one.peer.prepare({ folder: own, port, upstreamPort: upstream.portOf(one.page) });
  const { adminPort } = program;
  const running = await startProgram(program, SERVER_CORE);
  try {
    if (adminPort !== undefined) await untilReady(adminPort);
    const { bytes } = await verifyResponse(one, port);
    const result = await step({ running, port, load: createLoad(one, running, { port, adminPort, bytes }) });
    await verifyResponse(one, port);
    const pattern = one.page.undocumented ? OTHER_VIOLATIONS : VIOLATIONS;
    const violations = adminPort === undefined ? 0 : await countMetric(adminPort, pattern);
    if (violations > 0) throw new Error(`${violations} violations were counted`);
    return result;
  } catch (error) {
    const words = [(error as Error).message, running.ended()].filter((text) => text !== undefined);
    throw new Error(`${one.peer.label}, ${one.id}: ${words.join('; ')}`, { cause: error });
  } finally {
    await running.stop();
  }
}
