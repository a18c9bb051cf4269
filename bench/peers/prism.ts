import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { compilerLog } from '../compiler-log.ts';
import { SERVER_CORE } from '../cores.ts';
import { startProgram } from '../process-tree.ts';
import type { Peer } from './peer.ts';

const CONTRACT = join(import.meta.dirname, '..', '..', 'schemas', 'openapi.yaml');

/**
 * Creates a Prism peer, a validating proxy for the same contract. It runs in a single process and writes no log, both
 * of which make it faster.
 */
export function prism(): Peer {
  return {
    id: 'prism',
    label: 'Prism proxy --errors',
    authenticates: false,
    start: async ({ port, upstreamPort, folder }) => {
      const program = createRequire(import.meta.url).resolve('@stoplight/prism-cli/package.json');
      // Prism's multi-process mode, which is the default in production, does not start with this version of Node.
      const options = ['--errors', '--multiprocess=false', '-v', 'silent', '-h', '127.0.0.1'];
      const log = compilerLog(join(folder, `prism-${port}`));
      const running = await startProgram({
        name: 'Prism',
        command: process.execPath,
        args: [
          ...log.options,
          join(dirname(program), 'dist', 'index.js'),
          'proxy',
          CONTRACT,
          `http://127.0.0.1:${upstreamPort}`,
          ...options,
          '-p',
          String(port),
        ],
        core: SERVER_CORE,
        port,
        cwd: log.folder,
        output: join(log.folder, 'output.log'),
        env: { NODE_ENV: 'production' },
      });
      const configuration = `prism proxy schemas/openapi.yaml UPSTREAM ${options.join(' ')} -p PORT`;
      return { running, port, configuration, optimizations: log.count };
    },
  };
}
