import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { contractFolder, operationCount } from '../contract-folder.ts';
import { SERVER_CORE } from '../cores.ts';
import { freePort } from '../free-port.ts';
import { type CompilerLog, compilerLog } from '../compiler-log.ts';
import { type Program, startProgram } from '../process-tree.ts';
import { untilReady } from '../until-ready.ts';
import { MEMBER, STRANGER } from './credentials.ts';
import { idOf, type Peer, type PeerContext, type StartedPeer } from './peer.ts';

/** A variant of Portico. Features that the variant does not specify are enabled, as in `strict` mode. */
export interface PorticoVariant {
  /** The text that follows Portico's name in tables. */
  readonly label: string;
  readonly responses: 'enforce' | 'report' | 'off';
  readonly cache: boolean;
  /** The cache budget in bytes. Defaults to 64 MiB. */
  readonly maxBytes?: number;
  /** The checkout to measure. Defaults to this checkout. */
  readonly checkout?: string;
  /** Node options, used for profiling. */
  readonly nodeOptions?: readonly string[];
  /** The number of operations in the contract. By default, the contract contains only the documented operations. */
  readonly operations?: number;
}

/** The undocumented path that the configuration allows. */
export const UNDOCUMENTED_PATH = '/services/v2/bench/passed.json';

const ROOT = join(import.meta.dirname, '..', '..');

const PERMISSION = 'View the questions list';
const ROLES = {
  roles: { anonymous: {}, reader: { permissions: [PERMISSION] } },
  accounts: [
    { name: MEMBER.name, roles: ['reader'], passwordHash: MEMBER.passwordHash },
    { name: STRANGER.name, roles: ['anonymous'], passwordHash: STRANGER.passwordHash },
  ],
};

/**
 * The roles file for every run. It contains a role with one permission, an account that has this role, and an account
 * that does not.
 */
export const ROLES_TEXT = JSON.stringify(ROLES, undefined, 2);

/**
 * Creates a Portico peer with authentication, permissions, parameter and page bounds checks, metrics, and an access log
 * file.
 */
export function portico(variant: PorticoVariant): Peer {
  const id = idOf('portico', variant.label);
  return {
    id,
    label: `Portico, ${variant.label}`,
    authenticates: true,
    withNodeOptions: (nodeOptions) => portico({ ...variant, nodeOptions }),
    start: async (context) => {
      const log = compilerLog(folderOf(id, context));
      const { program, configuration, adminPort } = await porticoProgram(id, withOptions(variant, log), context);
      const running = await startProgram(program);
      try {
        await untilReady(adminPort);
      } catch (error) {
        await running.stop();
        throw error;
      }
      return {
        running,
        port: context.port,
        configuration: `${configuration}\n${ROLES_TEXT}`,
        adminPort,
        optimizations: log.count,
      };
    },
  };
}

/** Returns the folder for one process. It is the working directory and contains the configuration and the logs. */
function folderOf(id: string, { folder, port }: Pick<PeerContext, 'folder' | 'port'>): string {
  return join(folder, `${id}-${port}`);
}

function withOptions(variant: PorticoVariant, { options }: CompilerLog): PorticoVariant {
  return { ...variant, nodeOptions: [...(variant.nodeOptions ?? []), ...options] };
}

/** Writes a variant's configuration and returns the program to start. */
export async function porticoProgram(
  id: string,
  variant: PorticoVariant,
  { port, upstreamPort, folder }: PeerContext,
): Promise<Pick<Required<StartedPeer>, 'configuration' | 'adminPort'> & { readonly program: Program }> {
  const own = folderOf(id, { folder, port });
  mkdirSync(own, { recursive: true });
  const adminPort = await freePort();
  const configuration = configurationOf(variant, { port, adminPort, upstreamPort, folder });
  writeFileSync(join(own, 'portico.yaml'), configuration, { mode: 0o600 });
  writeFileSync(join(own, 'roles.yaml'), ROLES_TEXT, { mode: 0o600 });
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

/** Returns the configuration text. JSON is valid YAML, so the results can show the file unchanged. */
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
    undocumented: { allow: [{ method: 'GET', path: UNDOCUMENTED_PATH, permission: PERMISSION }] },
  };
  return JSON.stringify(config, undefined, 2);
}

/**
 * Turns on the inferred operations, so that the number of operations is exact. By default, they are off if the
 * upstream is a real one.
 */
function contractOf(operations: number, folder: string): object {
  const inferred = 'on';
  if (operations === operationCount()) return { inferred };
  // The path is relative to the folder that contains the configuration, so that the results contain no paths from this
  // machine.
  return { inferred, folder: join('..', basename(contractFolder(folder, operations))) };
}
