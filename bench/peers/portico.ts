import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';
import { MEMBER } from './credentials.ts';
import type { Peer, PeerContext } from './peer.ts';

/** Which Portico runs, and how. */
export interface PorticoOptions {
  /** The folder of the program. Defaults to this checkout, which runs its sources. */
  readonly checkout?: string;
  /** Node options, used for profiling. */
  readonly nodeOptions?: readonly string[];
}

/** The undocumented path that the configuration allows. */
export const UNDOCUMENTED_PATH = '/services/v2/bench/passed.json';

const PERMISSION = 'View the questions list';

/** The roles file: a role with one permission, and an account that has this role. */
const ROLES = {
  roles: { anonymous: {}, reader: { permissions: [PERMISSION] } },
  accounts: [{ name: MEMBER.name, roles: ['reader'], passwordHash: MEMBER.passwordHash }],
};

/** Creates a Portico peer that enforces every check, counts, and writes its access log to a file. */
export function portico({ cache }: { cache: boolean }, options: PorticoOptions = {}): Peer {
  const { checkout = join(import.meta.dirname, '..', '..'), nodeOptions = [] } = options;
  return {
    label: 'Portico',
    prepare: async (context) => {
      const { folder, port } = context;
      const adminPort = await freePort();
      const configuration = writeConfiguration({ ...context, adminPort, cache });
      const args = [...nodeOptions, join(checkout, 'bin', 'portico.mjs'), 'serve', '--config', configuration];
      return { command: process.execPath, args, folder, port, adminPort };
    },
  };
}

/** Writes the configuration and the roles. Returns the path of the configuration. JSON is valid YAML. */
export function writeConfiguration({
  folder,
  port,
  adminPort,
  upstreamPort,
  cache,
}: PeerContext & { readonly adminPort: number; readonly cache: boolean }): string {
  const configuration = {
    mode: 'strict',
    checks: { responses: 'enforce' },
    // It ends at once, because no load balancer has to notice first.
    listen: { port, adminPort, lameDuckSeconds: 0 },
    upstream: { url: `http://127.0.0.1:${upstreamPort}` },
    authentication: { verifier: 'file' },
    roles: { file: 'roles.yaml' },
    cache: { enabled: cache, ...(cache ? { freshSeconds: 3600 } : {}) },
    undocumented: { allow: [{ method: 'GET', path: UNDOCUMENTED_PATH, permission: PERMISSION }] },
  };
  const file = join(folder, 'portico.yaml');
  writeFileSync(file, JSON.stringify(configuration, undefined, 2), { mode: 0o600 });
  writeFileSync(join(folder, 'roles.yaml'), JSON.stringify(ROLES, undefined, 2), { mode: 0o600 });
  return file;
}
