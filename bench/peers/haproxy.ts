import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SERVER_CORE } from '../cores.ts';
import { startProgram } from '../process-tree.ts';
import type { Peer } from './peer.ts';

/** Creates an HAProxy peer with one thread. It forwards every request. */
export function haproxy(): Peer {
  return {
    id: 'haproxy',
    label: 'HAProxy',
    authenticates: false,
    needs: 'haproxy',
    start: async ({ port, upstreamPort, folder }) => {
      const own = join(folder, `haproxy-${port}`);
      mkdirSync(own, { recursive: true });
      const configuration = configurationOf(port, upstreamPort);
      const file = join(own, 'haproxy.cfg');
      writeFileSync(file, configuration);
      const running = await startProgram({
        name: 'HAProxy',
        command: 'haproxy',
        args: ['-db', '-f', file],
        core: SERVER_CORE,
        port,
        output: join(own, 'output.log'),
      });
      return { running, port, configuration };
    },
  };
}

function configurationOf(port: number, upstreamPort: number): string {
  return `global
  nbthread 1
  maxconn 4096
defaults
  mode http
  timeout connect 5s
  timeout client 75s
  timeout server 75s
  option http-keep-alive
  http-reuse always
frontend public
  bind 127.0.0.1:${port} backlog 4096
  default_backend legacy
backend legacy
  server legacy 127.0.0.1:${upstreamPort}
`;
}
