import type { VerifierName } from './engine/identity/verifiers.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { Express } from 'express';
import type { AllowedPath, ListenOptions } from './engine/config/general-options.ts';
import type { FeatureConfig } from './features.ts';
import { readSettings } from './portico-settings.ts';
import type { ContractOptions } from './engine/contract/contract-options.ts';
import { packageRoot } from './lib/package-root.ts';
import { mountGateway } from './engine/gateway.ts';
import type { Checks, ErrorStyle } from './engine/model/checks.ts';
import { StartFault } from './engine/model/fault.ts';
import type { ModeName } from './engine/model/modes.ts';
import type { Operator } from './engine/identity/operators-options.ts';
import type { RedisOptions } from './engine/sharing/redis/redis-options.ts';
import type { LogLevel } from './engine/telemetry/logs.ts';

export { StartFault, type Fault } from './engine/model/fault.ts';

type Section = Readonly<Record<string, unknown>>;

/**
 * The configuration as passed by a program. It has the same keys as `portico.yaml`, all of them optional. Sections
 * without types of their own accept any key. All values are checked against `config/portico.schema.json`, which contains every
 * key with its type.
 */
export type PorticoConfig = {
  readonly mode?: ModeName;
  readonly checks?: Partial<Checks>;
  readonly errors?: ErrorStyle;
  readonly publicBasePath?: string;
  readonly publicOrigin?: string;
  readonly listen?: Partial<ListenOptions>;
  readonly adminToken?: string;
  readonly adminTokenFile?: string;
  readonly operators?: readonly Operator[];
  readonly readableSecrets?: 'refuse' | 'allow';
  readonly upstream?: Section & { readonly url?: string };
  readonly rewriteUrls?: boolean;
  readonly authentication?: Section & {
    readonly anonymous?: 'deny' | 'allow';
    readonly verifier?: VerifierName;
  };
  readonly roles?: Section & { readonly file?: string };
  readonly permissions?: Section;
  readonly parameters?: { readonly allow?: Readonly<Record<string, readonly string[]>> };
  readonly pageBounds?: Section;
  readonly cache?: Section;
  readonly contract?: Partial<Omit<ContractOptions, 'inferred' | 'scanner' | 'allowedParameters' | 'rules'>> & {
    readonly inferred?: 'on' | 'off';
    readonly scanner?: 'on' | 'off';
  };
  readonly release?: string;
  readonly instance?: string;
  readonly redis?: Partial<RedisOptions>;
  readonly undocumented?: { readonly allow?: readonly AllowedPath[] };
  readonly contractStatusHeader?: boolean;
  readonly proxyStatusHeader?: boolean;
  readonly logging?: { readonly level?: LogLevel; readonly principalNames?: boolean };
  readonly operations?: Readonly<Record<string, Section>>;
} & FeatureConfig;

/** The gateway as middleware for Express or any other framework that calls `(req, res, next)`. */
export interface Portico {
  /**
   * Handles every request that it receives. `next` is called only if another handler has already read the request body,
   * and always with an error.
   */
  (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void): void;
  /** An Express app with health checks, metrics and the console. Mount it where only operators can reach it. */
  readonly admin: Express;
  /** The lines that `portico plan` prints, one for each operation. */
  readonly plans: readonly string[];
  /**
   * Uses the given configuration for new requests. Without an argument, rereads the files of the current configuration.
   * Returns the names of the keys and files that have changed. If there are configuration errors, the previous
   * configuration stays in use, and a `StartFault` that lists all of them is thrown.
   */
  reload(config?: PorticoConfig): Promise<readonly string[]>;
  /** Finishes the background work, then closes the ledger and all connections to the upstream. */
  close(): Promise<void>;
}

/** Replacements for the process's environment, working directory and output. */
interface PorticoOptions {
  /** The environment variables, such as `UPSTREAM_URL`. Defaults to `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The directory against which relative paths are resolved. Defaults to the working directory. */
  readonly cwd?: string;
  /** Receives the log lines, each including its line break. Defaults to standard output. */
  readonly logStream?: { write(line: string): void };
}

/**
 * Starts a gateway that an application mounts next to its own routes. The configuration has the same keys as
 * `portico.yaml`, and environment variables take precedence over it. If there are configuration errors, releases all
 * resources and throws a `StartFault` that lists all of them.
 */
export async function createPortico(config: PorticoConfig, options: PorticoOptions = {}): Promise<Portico> {
  const { env = process.env, cwd = process.cwd(), logStream } = options;
  let latest = config;
  const read = () => {
    // If the application has no roles file, the one in Portico's package is used.
    const roles = { file: join(packageRoot, 'config', 'roles.yaml'), ...latest.roles };
    const { settings, faults } = readSettings({ env, cwd, given: { ...latest, roles } });
    const message = 'is missing: set it to the address of the legacy server';
    // If there are other errors, one of them may be the reason why `upstream.url` is missing.
    const isMissing = faults.length === 0 && settings.embedded;
    return { settings, faults: isMissing ? [{ source: settings.file, pointer: '/upstream/url', message }] : faults };
  };
  const { settings, faults } = read();
  if (faults.length > 0) throw new StartFault(faults);
  const gateway = await mountGateway(settings, {
    env,
    readSettings: read,
    ...(logStream !== undefined && { logStream }),
  });
  const { handle, admin, close } = gateway;
  const reload = async (next = latest): Promise<readonly string[]> => {
    const before = latest;
    latest = next;
    const result = await gateway.reload('program');
    if (result.outcome === 'applied') return result.changed;
    latest = before;
    throw new StartFault(result.faults);
  };
  const middleware = (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void): void => {
    if (req.readableDidRead)
      next(new Error('The request body has already been read: mount Portico before any body parser.'));
    else handle(req, res);
  };
  const portico = Object.assign(middleware, { admin, plans: gateway.planLines, reload, close });
  // The property is a getter because a reload changes the plans.
  return Object.defineProperty(portico, 'plans', { get: () => gateway.planLines });
}
