import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compilerLog } from '../compiler-log.ts';
import { SERVER_CORE } from '../cores.ts';
import type { PageSize } from '../pages.ts';
import { startProgram } from '../process-tree.ts';
import type { Peer } from './peer.ts';

/**
 * Creates a plain `node:http` server that sends the same bytes from memory. No server on Node can use less CPU time.
 */
export function nodeHttp(size: PageSize): Peer {
  return {
    id: 'node-http',
    label: 'bare node:http',
    authenticates: false,
    start: async ({ port, folder }) => {
      const file = join(import.meta.dirname, 'programs', 'node-http.ts');
      const log = compilerLog(join(folder, `node-http-${port}`));
      const running = await startProgram({
        name: 'node:http',
        command: process.execPath,
        args: [...log.options, file, String(port), size],
        core: SERVER_CORE,
        port,
        cwd: log.folder,
        output: join(log.folder, 'output.log'),
      });
      return { running, port, configuration: readFileSync(file, 'utf8'), optimizations: log.count };
    },
  };
}
