import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compilerLog } from '../compiler-log.ts';
import { SERVER_CORE } from '../cores.ts';
import type { PageSize } from '../pages.ts';
import { startProgram } from '../process-tree.ts';
import type { Peer } from './peer.ts';

/**
 * The headers of a hit, besides `Date` and `Connection`, which Node adds. The values have the lengths of Portico's.
 */
const HEADERS_OF_A_HIT = [
  ['Age', '1'],
  ['Cache-Control', 'private, no-cache'],
  ['Cache-Status', 'portico; hit; ttl=3598'],
  ['Contract-Status', 'conforming'],
  ['ETag', '"p-0123456789abcdef0123456789abcdef"'],
  ['Vary', 'Authorization, Accept-Encoding'],
  ['X-Request-Id', '01234567-89ab-4cde-8f01-23456789abcd'],
] as const;

/**
 * Creates a plain `node:http` server that sends the same bytes from memory, with as many headers as Portico. No server
 * on Node can use less CPU time.
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
        args: [...log.options, file, String(port), size, ...HEADERS_OF_A_HIT.flat()],
        core: SERVER_CORE,
        port,
        cwd: log.folder,
        output: join(log.folder, 'output.log'),
      });
      return { running, port, configuration: readFileSync(file, 'utf8'), optimizations: log.count };
    },
  };
}
