import type { RequestListener } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import type { Express } from 'express';
import type { DestinationStream } from 'pino';
import type { SettingsReading } from './config/load-settings.ts';
import type { Settings } from './config/settings.ts';
import { createEngine } from './create-engine.ts';
import { type Edges, openEdges } from './edges.ts';
import { explainRequest } from './explain-request.ts';
import { type Feature, featuresOf } from './feature.ts';
import type { Readiness } from './http/admin-app.ts';
import { listen, type Listener, type ListenerServer } from './http/listen.ts';
import { loadStart, type Start } from './load-start.ts';
import type { AcceptedViolations } from './model/acceptance.ts';
import type { Fault } from './model/fault.ts';
import { type PermissionMatrix, permissionMatrix } from './permissions/permission-matrix.ts';
import type { CompiledGateway } from './pipeline/compiled-gateway.ts';
import type { ExplainRequest } from './pipeline/dry-run.ts';
import type { ExplainStep } from './pipeline/explain.ts';
import { planLine } from './pipeline/plan.ts';
import { undocumentedPlanLine } from './pipeline/undocumented/plan.ts';
import { createReload, type Reload } from './reload.ts';
import type { InUse } from './services.ts';
import { type Clock, systemClock } from '../lib/clock.ts';

/** Replacements for the system's clock, timer, environment, output and random numbers. */
interface GatewayParts {
  readonly clock?: Clock;
  /** Waits for a lame-duck period of the given length. */
  readonly waitLameDuck?: (milliseconds: number) => Promise<unknown>;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly logStream?: DestinationStream;
  readonly random?: () => number;
  /** The features of the gateway. Defaults to those with which the settings were read. */
  readonly features?: readonly Feature[];
  /** True if the gateway is only inspected and never serves requests. Such a gateway does not connect to Redis. */
  readonly isInspected?: boolean;
  /** Reads the settings for a reload from the sources used at startup. If undefined, every reload is refused. */
  readonly readSettings?: () => SettingsReading | Promise<SettingsReading>;
}

/** An assembled gateway that is not listening. After a reload, its properties reflect the new configuration. */
export interface Assembly {
  readonly settings: Settings;
  readonly gateway: CompiledGateway;
  /** The services and features at work, each under its name. */
  readonly services: InUse;
  /** Problems that do not prevent startup, found in the contract, the settings and what features read. */
  readonly warnings: readonly Fault[];
  /** What features have read, by the feature's name. */
  readonly prepared: Start['prepared'];
  readonly edges: Edges;
  /** The lines that `portico plan` prints, one for each operation. */
  readonly planLines: readonly string[];
  /** The operations that each role and each account may use. */
  readonly permissions: PermissionMatrix;
  /** Returns the steps that explain how the gateway would handle a request. Does not contact the upstream. */
  explain(request: ExplainRequest): Promise<readonly ExplainStep[]>;
  /** The accepted violations. Undefined if no baseline file is configured. */
  readonly baseline: AcceptedViolations | undefined;
  readonly reload: Reload;
  readonly drain: { started: boolean };
  /** Opens stores and tests the verifier. Needed before requests are served. */
  open(): Promise<void>;
  /** Closes everything. Features may take `graceMs` milliseconds to finish their work. */
  close(graceMs?: number): Promise<void>;
}

/** A gateway that accepts requests. */
export interface Gateway extends Pick<
  Assembly,
  'planLines' | 'explain' | 'gateway' | 'services' | 'baseline' | 'reload' | 'settings' | 'drain'
> {
  /** The public side's address. */
  readonly publicUrl: string;
  /** The admin side's address. */
  readonly adminUrl: string;
  /**
   * Closes the gateway. For the first `lameDuckSeconds` (default: 0), it still serves requests but reports that it is
   * not ready. It then stops accepting connections, waits up to `listen.drainSeconds` for requests in progress, and
   * closes everything.
   */
  close(options?: CloseOptions): Promise<void>;
}

/** Options for closing a gateway. */
interface CloseOptions {
  readonly lameDuckSeconds?: number;
}

/**
 * Reads, checks and compiles everything. If there are configuration errors, throws a `StartFault` that contains all of
 * them.
 */
export function assembleGateway(settings: Settings, given: GatewayParts = {}): Assembly {
  const { env = process.env, features = featuresOf(settings) } = given;
  const sources = { env, features };
  const loaded = loadStart(settings, sources);
  const start = given.isInspected === true ? { ...loaded, redis: undefined } : loaded;
  const drain = { started: false };
  const engine = createEngine(
    {
      clock: given.clock ?? systemClock,
      logStream: given.logStream,
      random: given.random ?? Math.random,
      controls: {
        readiness: () => readinessOf(engine.current(), drain.started),
        isClosing: () => drain.started,
        reload: (trigger) => reload(trigger),
        publicAddress: () => edges.publicAddress(),
      },
    },
    features,
  );
  const first = engine.prepare(settings, start);
  let edges: Edges;
  try {
    edges = first.use(openEdges);
  } catch (error) {
    void first.discard();
    throw error;
  }
  const reload = createReload({
    read: given.readSettings,
    sources,
    engine,
    isClosing: () => drain.started,
    follow: edges.use,
  });
  const { warnings, prepared } = start;
  const { drainSeconds } = settings.listen;
  return {
    get settings() {
      return engine.current().settings;
    },
    get gateway() {
      return engine.current().gateway;
    },
    get services() {
      return engine.current();
    },
    warnings,
    prepared,
    edges,
    get planLines() {
      const { plans, undocumented } = engine.current().gateway;
      return [...[...plans.values()].map(planLine), undocumentedPlanLine(undocumented)];
    },
    get permissions() {
      const { permissions, contract } = engine.current().start;
      return permissionMatrix(permissions, contract.operations);
    },
    explain: (request) => explainRequest(engine.current(), request),
    get baseline() {
      return engine.current().start.baseline;
    },
    reload,
    drain,
    open: engine.open,
    close: async (graceMs = drainSeconds * 1000) => {
      edges.close();
      await engine.close(graceMs);
    },
  };
}

/** Assembles a gateway and opens it. If a step fails, closes everything that was opened. */
async function startAssembly(settings: Settings, given: GatewayParts): Promise<Assembly> {
  const assembly = assembleGateway(settings, given);
  const { logger } = assembly.services;
  try {
    await assembly.open();
  } catch (error) {
    await assembly.close(0);
    throw error;
  }
  for (const { source, pointer, message } of assembly.warnings) logger.warn({ source, pointer }, message);
  return assembly;
}

/** Starts a gateway with its own listeners. If a step fails, closes everything that was opened. */
export async function createGateway(settings: Settings, given: GatewayParts = {}): Promise<Gateway> {
  const assembly = await startAssembly(settings, given);
  const { host, port, reusePort, adminHost, adminPort } = settings.listen;
  const opened: Listener[] = [];
  const { close: closeAssembly } = assembly;
  const close = async (finishMs: number, lameDuckMs: number) => {
    assembly.drain.started = true;
    // Load balancers need time to notice that this process is not ready before it refuses connections.
    if (lameDuckMs > 0) await (given.waitLameDuck ?? setTimeout)(lameDuckMs);
    const endsAt = performance.now() + finishMs;
    // The public side is closed first, so that the admin side can still report to the load balancer that the gateway is
    // not ready while requests finish.
    for (const listener of opened) await listener.close({ finishMs });
    await closeAssembly(Math.max(0, endsAt - performance.now()));
  };
  const open = async (server: ListenerServer, address: Parameters<typeof listen>[1]) => {
    const listener = await listen(server, address);
    opened.push(listener);
    return listener.url;
  };
  try {
    const { publicServer, adminServer } = assembly.edges;
    const publicUrl = await open(publicServer, { host, port, reusePort });
    const adminUrl = await open(adminServer, { host: adminHost, port: adminPort });
    let closing: Promise<void> | undefined;
    // The assembly object itself is extended, because a copy of its properties would not be updated by reloads.
    return Object.assign(assembly, {
      publicUrl,
      adminUrl,
      close: ({ lameDuckSeconds = 0 }: CloseOptions = {}) =>
        (closing ??= close(assembly.settings.listen.drainSeconds * 1000, lameDuckSeconds * 1000)),
    });
  } catch (error) {
    await close(0, 0);
    throw error;
  }
}

/** A gateway without its own listeners; the embedding application provides them instead. */
interface MountedGateway extends Pick<Assembly, 'planLines' | 'reload' | 'close'> {
  readonly handle: RequestListener;
  /** The Express app of the admin side: health checks, metrics and the console. */
  readonly admin: Express;
}

/** Starts a gateway without its own listeners. If a step fails, closes everything that was opened. */
export async function mountGateway(settings: Settings, given: GatewayParts = {}): Promise<MountedGateway> {
  const assembly = await startAssembly(settings, given);
  const { close: closeAssembly } = assembly;
  let closing: Promise<void> | undefined;
  return Object.assign(assembly, {
    handle: assembly.edges.handle,
    admin: assembly.edges.adminApp,
    close() {
      assembly.drain.started = true;
      return (closing ??= closeAssembly());
    },
  });
}

function readinessOf({ settings: { embedded }, verifierTests: { state } }: InUse, draining: boolean): Readiness {
  const reasons = [
    draining && 'shutting down',
    !embedded && state.needed === true && state.kind !== 'calibrated' && 'credentials cannot be verified yet',
  ].filter((reason) => typeof reason === 'string');
  return { ready: reasons.length === 0, reasons };
}
