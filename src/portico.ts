import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { Express } from 'express';
import { loadSettings } from './config/load-settings.ts';
import type { PorticoConfig } from './config/portico-config.ts';
import { packageRoot } from './files/package-root.ts';
import { mountGateway } from './gateway.ts';
import { StartFault } from './model/fault.ts';

export type { PorticoConfig } from './config/portico-config.ts';
export { StartFault, type Fault } from './model/fault.ts';

/** The gateway as middleware for Express or any other framework that calls `(req, res, next)`. */
export interface Portico {
  /** Handles every request that reaches it. Calls `next` with an error only if the body has already been read. */
  (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void): void;
  /** An Express app with `/livez`, `/readyz`, `/metrics` and the console. Mount it where only operators can reach it. */
  readonly admin: Express;
  /** The plan of each operation, one line each, as `portico plan` prints them. */
  readonly plans: readonly string[];
  /** Finishes background work, and closes the ledger and all connections to the upstream. */
  close(): Promise<void>;
}

/** Replacements for the environment, working folder and output of the process. */
interface PorticoOptions {
  /** The environment that variables such as `UPSTREAM_URL` are read from; `process.env` by default. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The folder that relative paths start from; the working folder by default. */
  readonly cwd?: string;
  /** Receives log lines, each with its line break; standard output by default. */
  readonly logStream?: { write(line: string): void };
}

/**
 * Starts a gateway that an application mounts beside its own routes. The configuration has the keys of `portico.yaml`, and
 * environment variables take precedence over it. Throws `StartFault` with all configuration errors; all resources are
 * released then.
 */
export async function createPortico(config: PorticoConfig, options: PorticoOptions = {}): Promise<Portico> {
  const { env = process.env, cwd = process.cwd(), logStream } = options;
  // An application without its own roles file uses the one that comes with Portico.
  const roles = { file: join(packageRoot, 'config', 'roles.yaml'), ...config.roles };
  const settings = loadSettings({ env, cwd, given: { ...config, roles } });
  if (settings.embedded)
    throw new StartFault([
      {
        source: settings.file,
        pointer: '/upstream/url',
        message: 'is missing: set it to the address of the legacy server',
      },
    ]);
  const { handle, admin, planLines, close } = await mountGateway(settings, {
    env,
    ...(logStream !== undefined && { logStream }),
  });
  const middleware = (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void): void => {
    if (req.readableDidRead)
      next(new Error('The request body has already been read: mount Portico before any body parser.'));
    else handle(req, res);
  };
  return Object.assign(middleware, { admin, plans: planLines, close });
}
