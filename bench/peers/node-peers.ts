import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Peer } from './peer.ts';

/**
 * The headers of a hit, besides `Content-Type`, `Content-Length` and those that Node adds. The values have the lengths
 * of Portico's.
 */
const HEADERS_OF_A_HIT = [
  ['Age', '1'],
  ['Cache-Control', 'private, no-cache'],
  ['Cache-Status', 'portico; hit; ttl=3598'],
  ['ETag', '"IRtj4ETBmZd1DQYgzmDppR"'],
  ['Vary', 'Accept-Encoding'],
  ['Via', '1.1 portico'],
  ['X-Request-Id', '01234567-89ab-4cde-8f01-23456789abcd'],
] as const;

/** Creates a plain `node:http` server that sends the page from memory, with the headers of Portico's hit. */
export function nodeHttp(): Peer {
  return nodePeer('bare node:http', 'node-http.ts', () => HEADERS_OF_A_HIT.flat());
}

/** Creates the proxy that a team would write: express with http-proxy-middleware, without any check. */
export function proxy(): Peer {
  return nodePeer('express + http-proxy-middleware', 'http-proxy-middleware.ts', String);
}

/** Creates the same proxy behind express-openapi-validator, which checks requests and responses. */
export function validator(): Peer {
  return nodePeer('express-openapi-validator', 'express-openapi-validator.ts', String);
}

/** Creates a server whose program is in `programs/` and gets its port, followed by other arguments. */
function nodePeer(label: string, program: string, more: (upstreamPort: number) => string | readonly string[]): Peer {
  return {
    label,
    prepare: ({ folder, port, upstreamPort }) => {
      const file = join(import.meta.dirname, 'programs', program);
      const args = [file, String(port), ...[more(upstreamPort)].flat()];
      return Promise.resolve({ command: process.execPath, args, folder, port });
    },
  };
}

/**
 * Creates Prism, a validating proxy for the same contract, in a single process and without a log, which make it faster.
 * Its mode with several processes, the default in production, does not start with this version of Node.
 */
export function prism(): Peer {
  return {
    label: 'Prism',
    prepare: ({ folder, port, upstreamPort }) => {
      const main = join(dirname(createRequire(import.meta.url).resolve('@stoplight/prism-cli/package.json')), 'dist');
      const contract = join(import.meta.dirname, '..', '..', 'schemas', 'openapi.yaml');
      const options = ['--errors', '--multiprocess=false', '-v', 'silent', '-h', '127.0.0.1', '-p', String(port)];
      const args = [join(main, 'index.js'), 'proxy', contract, `http://127.0.0.1:${upstreamPort}`, ...options];
      return Promise.resolve({ command: process.execPath, args, folder, port });
    },
  };
}
