import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { contractFolder, operationCount } from '../contract-folder.ts';
import { SERVER_CORE } from '../cores.ts';
import { freePort } from '../free-port.ts';
import { type Program, startProgram } from '../process-tree.ts';
import { untilReady } from '../until-ready.ts';
import { MEMBER, STRANGER } from './credentials.ts';
import { idOf, type Peer, type PeerContext, type StartedPeer } from './peer.ts';

/** Which Portico is measured; everything that is not named is on, as in the mode `strict`. */
export interface PorticoVariant {
  /** What the tables add to the name. */
  readonly label: string;
  readonly responses: 'enforce' | 'report' | 'off';
  readonly cache: boolean;
  /** Memory for pages in bytes; the default of 64 MiB unless given. */
  readonly maxBytes?: number;
  /** The checkout that is measured; this one unless given. */
  readonly checkout?: string;
  /** Options of Node itself, for profiles. */
  readonly nodeOptions?: readonly string[];
  /** How many operations the contract has; the documented ones unless given. */
  readonly operations?: number;
}

/** The path outside the contract that the configuration lets pass. */
export const PASSED_PATH = '/services/v2/bench/passed.json';

const ROOT = join(import.meta.dirname, '..', '..');

const PERMISSION = 'View the questions list';
const ROLES = {
  roles: { anonymous: {}, reader: { permissions: [PERMISSION] } },
  accounts: [
    { name: MEMBER.name, roles: ['reader'], passwordHash: MEMBER.passwordHash },
    { name: STRANGER.name, roles: ['anonymous'], passwordHash: STRANGER.passwordHash },
  ],
};

/** The roles file of every run: one role with one permission, one account with it and one without. */
export const ROLES_TEXT = JSON.stringify(ROLES, undefined, 2);

/** Portico with every rule on: authentication, permission, parameters, bounds, metrics and an access log to a file. */
export function portico(variant: PorticoVariant): Peer {
  const id = idOf('portico', variant.label);
  return {
    id,
    label: `Portico, ${variant.label}`,
    authenticates: true,
    withNodeOptions: (nodeOptions) => portico({ ...variant, nodeOptions }),
    start: async (context) => {
      const { program, configuration, adminPort } = await porticoProgram(id, variant, context);
      const running = await startProgram(program);
      try {
        await untilReady(adminPort);
      } catch (error) {
        await running.stop();
        throw error;
      }
      return { running, port: context.port, configuration: `${configuration}\n${ROLES_TEXT}`, adminPort };
    },
  };
}

/** Writes the configuration of a variant and says how to start it. */
export async function porticoProgram(
  id: string,
  variant: PorticoVariant,
  { port, upstreamPort, folder }: PeerContext,
): Promise<Pick<Required<StartedPeer>, 'configuration' | 'adminPort'> & { readonly program: Program }> {
  const own = join(folder, `${id}-${port}`);
  mkdirSync(own, { recursive: true });
  const adminPort = await freePort();
  const configuration = configurationOf(variant, { port, adminPort, upstreamPort, folder });
  writeFileSync(join(own, 'portico.yaml'), configuration);
  writeFileSync(join(own, 'roles.yaml'), ROLES_TEXT);
  const bin = join(variant.checkout ?? ROOT, 'bin', 'portico.mjs');
  return {
    configuration,
    adminPort,
    program: {
      name: `Portico, ${variant.label}`,
      command: process.execPath,
      args: [...(variant.nodeOptions ?? []), bin, 'serve', '--config', join(own, 'portico.yaml')],
      core: SERVER_CORE,
      port,
      cwd: own,
      output: join(own, 'access.log'),
      env: { NODE_ENV: 'production' },
    },
  };
}

/** The text of the configuration; JSON is YAML too, and shows in the results what was read. */
export function configurationOf(
  { responses, cache, maxBytes, operations }: Omit<PorticoVariant, 'label'>,
  { port, adminPort, upstreamPort, folder }: PeerContext & { readonly adminPort: number },
): string {
  const config = {
    mode: 'strict',
    checks: { responses },
    listen: { port, adminPort },
    upstream: { url: `http://127.0.0.1:${upstreamPort}` },
    authentication: { verifier: 'file' },
    roles: { file: 'roles.yaml' },
    cache: {
      enabled: cache,
      ...(cache ? { freshSeconds: 3600 } : {}),
      ...(maxBytes === undefined ? {} : { maxBytes }),
    },
    ...(operations === undefined ? {} : { contract: contractOf(operations, folder) }),
    undocumented: { allow: [{ method: 'GET', path: PASSED_PATH, permission: PERMISSION }] },
  };
  return JSON.stringify(config, undefined, 2);
}

/** With the inferred operations, which are off in front of a real upstream, so that the number is what it says. */
function contractOf(operations: number, folder: string): object {
  const inferred = 'on';
  if (operations === operationCount()) return { inferred };
  // Beside the folder of the configuration, so that results name no place of this machine.
  return { inferred, folder: join('..', basename(contractFolder(folder, operations))) };
}
