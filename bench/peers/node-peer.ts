import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compilerLog } from '../compiler-log.ts';
import { SERVER_CORE } from '../cores.ts';
import { startProgram } from '../process-tree.ts';
import type { Peer } from './peer.ts';

/**
 * Creates a proxy written for Node. The program is the file in `programs/` named after the peer's id. Its arguments are
 * its own port and the port of the upstream.
 */
export function nodePeer(id: string, label: string): Peer {
  return {
    id,
    label,
    authenticates: false,
    start: async ({ port, upstreamPort, folder }) => {
      const file = join(import.meta.dirname, 'programs', `${id}.ts`);
      const log = compilerLog(join(folder, `${id}-${port}`));
      const running = await startProgram({
        name: label,
        command: process.execPath,
        args: [...log.options, file, String(port), String(upstreamPort)],
        core: SERVER_CORE,
        port,
        cwd: log.folder,
        output: join(log.folder, 'output.log'),
        env: { NODE_ENV: 'production' },
      });
      return { running, port, configuration: readFileSync(file, 'utf8'), optimizations: log.count };
    },
  };
}
