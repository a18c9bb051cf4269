import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SERVER_CORE } from '../cores.ts';
import { startProgram } from '../process-tree.ts';
import type { Peer } from './peer.ts';

/**
 * Creates Varnish, which stores pages in memory. Varnish has no authentication, and would need a separate program for
 * an access log.
 */
export function varnish(): Peer {
  return {
    id: 'varnish',
    label: 'Varnish (no access log)',
    authenticates: false,
    needs: 'varnishd',
    start: async ({ port, upstreamPort, folder }) => {
      const own = join(folder, `varnish-${port}`);
      mkdirSync(own, { recursive: true });
      const vcl = vclOf(upstreamPort);
      const file = join(own, 'default.vcl');
      writeFileSync(file, vcl);
      // The jail is off. Otherwise, a Varnish started as root would run its worker under an account that cannot read
      // the run's folder.
      const storage = ['-j', 'none', '-s', 'malloc,512m', '-T', 'none'];
      const running = await startProgram({
        name: 'Varnish',
        command: 'varnishd',
        args: ['-F', ...storage, '-n', join(own, 'work'), '-a', `127.0.0.1:${port}`, '-f', file],
        core: SERVER_CORE,
        port,
        output: join(own, 'output.log'),
      });
      return { running, port, configuration: `# varnishd -F ${storage.join(' ')} -a 127.0.0.1:PORT\n${vcl}` };
    },
  };
}

function vclOf(upstreamPort: number): string {
  return `vcl 4.1;
backend legacy { .host = "127.0.0.1"; .port = "${upstreamPort}"; }
sub vcl_recv { return (hash); }
sub vcl_backend_response { set beresp.ttl = 1d; return (deliver); }
`;
}
