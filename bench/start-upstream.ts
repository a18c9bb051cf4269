import { join } from 'node:path';
import { LOAD_CORE } from './cores.ts';
import { freePort } from './free-port.ts';
import { type Page, PAGES } from './pages.ts';
import { startProgram } from './program.ts';

/** The upstream that all servers share. Each of its pages has its own port. */
export interface Upstream {
  portOf(page: Page): number;
  stop(): Promise<void>;
}

/** Starts the upstream on the load core. */
export async function startUpstream(folder: string): Promise<Upstream> {
  const ports: number[] = [];
  for (const _ of PAGES) ports.push(await freePort());
  const args = [join(import.meta.dirname, 'upstream.ts'), ...ports.map(String)];
  const program = { command: process.execPath, args, port: ports.at(-1) ?? 0, folder };
  const running = await startProgram(program, LOAD_CORE);
  return {
    portOf: ({ size, undocumented }) =>
      ports[PAGES.findIndex((one) => one.size === size && one.undocumented === undocumented)] ?? 0,
    stop: running.stop,
  };
}
