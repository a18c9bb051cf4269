import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SERVER_CORE } from '../cores.ts';
import { startProgram } from '../process-tree.ts';
import type { Peer } from './peer.ts';

/** A proxy written for Node: the program with that name in `programs`, started with its port and the upstream's. */
export function nodePeer(id: string, label: string): Peer {
  return {
    id,
    label,
    authenticates: false,
    start: async ({ port, upstreamPort, folder }) => {
      const file = join(import.meta.dirname, 'programs', `${id}.ts`);
      const running = await startProgram({
        name: label,
        command: process.execPath,
        args: [file, String(port), String(upstreamPort)],
        core: SERVER_CORE,
        port,
        output: join(folder, `${id}-${port}.log`),
        env: { NODE_ENV: 'production' },
      });
      return { running, port, configuration: readFileSync(file, 'utf8') };
    },
  };
}
