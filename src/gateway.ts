import { createHash } from 'node:crypto';
import { configurationDigest } from './engine/lasting-services.ts';
import type { RequestListener } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import type { Express } from 'express';
import type { DestinationStream } from 'pino';
import { assembleEdges, type Edges } from './engine/assemble-edges.ts';
import { type CompiledAssembly, compileGateway, requestRepeater } from './engine/compile-gateway.ts';
import { explainRequest } from './engine/explain-request.ts';
import {
  applySettings,
  type Assembled,
  assembleServices,
  type AssemblyParts,
  type Services,
} from './engine/assemble-services.ts';
import { type Calibration, calibrate } from './engine/identity/calibrate.ts';
import { probeUpstream } from './engine/upstream/startup-probe.ts';
import { loadStart, type Start } from './engine/load-start.ts';
import { createReload, type Reload } from './engine/reload.ts';
import { versionOfKey } from './engine/cache/stored-page.ts';
import { type Feature, featuresOf } from './engine/feature.ts';
import type { SettingsReading } from './engine/config/load-settings.ts';
import { packageVersion } from './lib/package-root.ts';
import type { InstanceFacts } from './engine/sharing/sharing.ts';
import type { Settings } from './engine/config/settings.ts';
import type { ContractOptions } from './engine/contract/contract-options.ts';
import type { Contract } from './engine/contract/load-contract.ts';
import type { Readiness } from './engine/http/admin-app.ts';
import { listen, type Listener, type ListenerServer } from './engine/http/listen.ts';
import type { AcceptedViolations } from './engine/model/acceptance.ts';
import { type Clock, systemClock } from './lib/clock.ts';
import type { Fault } from './engine/model/fault.ts';
import { type PermissionMatrix, permissionMatrix } from './engine/permissions/permission-matrix.ts';
import type { ExplainStep } from './engine/pipeline/explain.ts';
import type { ExplainRequest } from './engine/pipeline/dry-run.ts';
import type { CompiledGateway } from './engine/pipeline/compiled-gateway.ts';
import { planLine } from './engine/pipeline/plan.ts';
import { undocumentedPlanLine } from './engine/pipeline/undocumented/plan.ts';
import { bytesTo, createLineBatch } from './engine/telemetry/logs.ts';

/**
 * Replacements for the system's clock, timer, environment, output and random numbers, and for the function that loads
 * contracts.
 */
interface GatewayParts {
  readonly clock?: Clock;
  /** Waits for a lame-duck period of the given length. */
  readonly waitLameDuck?: (milliseconds: number) => Promise<unknown>;
  /** Loads and compiles a contract. A gateway never modifies a contract, so several gateways can share one. */
  readonly loadContract?: (options: ContractOptions) => Contract;
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
  readonly services: Services;
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
  /** Tests the upstream's address. Returns a function that cancels the test. */
  probe(): () => void;
  /** Whether the verifier can distinguish valid credentials from invalid ones, as reported by `/readyz`. */
  calibration: Calibration;
  readonly reload: Reload;
  readonly drain: { started: boolean };
  /** Returns the facts that this gateway reports to the other gateways. */
  readonly facts: () => InstanceFacts;
  readonly readiness: () => Readiness;
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
  const log = given.logStream === undefined ? toStandardOutput() : { stream: given.logStream, flush: () => undefined };
  const parts: AssemblyParts = {
    clock: given.clock ?? systemClock,
    env: given.env ?? process.env,
    logStream: log.stream,
    random: given.random ?? Math.random,
    features: given.features ?? featuresOf(settings),
  };
  const sources = { env: parts.env, features: parts.features, ...(given.loadContract && { load: given.loadContract }) };
  const loaded = loadStart(settings, sources);
  const start = given.isInspected === true ? { ...loaded, redis: undefined } : loaded;
  let current = compileAssembly({ settings, start, services: assembleServices(settings, start, parts) }, parts);
  const { metrics, upstreams, shared } = current.services;
  metrics.watch({
    operationChecks: (id) => current.gateway.plans.get(id)?.checks,
  });
  const drain = { started: false };
  const startedAt = parts.clock();
  const reload = createReload({
    read: given.readSettings,
    parts,
    sources,
    current: () => current,
    isClosing: () => drain.started,
    use: (next, calibration) => {
      const before = current;
      try {
        current = compileAssembly(next, parts);
      } catch (error) {
        // The long-lived services already use the new settings, so they are switched back to the previous ones.
        applySettings(before, parts.clock());
        throw error;
      }
      edges.use(current);
      void before.services.features.close(current.services.features);
      // Pages with a different page version can no longer be requested. If they were not removed here, they would stay
      // in memory until evicted.
      const versions = new Set([...current.gateway.plans.values()].map(({ pageVersion }) => pageVersion));
      current.services.cache.retain((key) => versions.has(versionOfKey(key)));
      if (calibration === undefined) return;
      assembly.calibration.stop();
      assembly.calibration = calibration;
    },
  });
  const edges = assembleEdges(current, parts, {
    readiness: () => assembly.readiness(),
    reload,
  });
  const assembly: Assembly = {
    get settings() {
      return current.settings;
    },
    get gateway() {
      return current.gateway;
    },
    get services() {
      return current.services;
    },
    warnings: start.warnings,
    prepared: start.prepared,
    edges,
    get planLines() {
      const { plans, undocumented } = current.gateway;
      return [...[...plans.values()].map(planLine), undocumentedPlanLine(undocumented)];
    },
    get permissions() {
      return permissionMatrix(current.start.permissions, current.start.contract.operations);
    },
    explain: (request) => explainRequest(current, request),
    get baseline() {
      return current.start.baseline;
    },
    probe: () => probeUpstream(settings, current.services, start.contract.operations, start.serviceAuthorization),
    calibration: { state: { kind: 'pending' }, stop: () => undefined },
    reload,
    drain,
    readiness: () => readinessOf(current, assembly.calibration.state, drain.started),
    facts: () => instanceFacts(current, startedAt, assembly.readiness().ready),
    close: async (graceMs = settings.listen.drainSeconds * 1000) => {
      edges.close();
      // Features can write to Redis until they are closed.
      await current.services.features.end(graceMs);
      await shared.close();
      await upstreams.close(0);
      log.flush();
    },
  };
  return assembly;
}

/** Applies the settings to the long-lived services, and compiles the plans. */
function compileAssembly(assembled: Assembled, parts: AssemblyParts): CompiledAssembly {
  const { settings, start, services } = assembled;
  applySettings(assembled, parts.clock());
  const gateway = compileGateway(settings, start, services, parts);
  services.live.repeater = requestRepeater(settings, start, services);
  services.live.gateway = gateway;
  return { ...assembled, gateway };
}

/** An assembled gateway whose stores are open and whose verifier has been tested. */
interface Running {
  readonly assembly: Assembly;
  /** Reports that the gateway is not ready, waits `lameDuckMs` milliseconds, and then stops the background work. */
  drain(lameDuckMs: number): Promise<void>;
}

/** Assembles a gateway, opens its stores and tests its verifier. If a step fails, closes everything that was opened. */
async function startAssembly(settings: Settings, given: GatewayParts): Promise<Running> {
  const assembly = assembleGateway(settings, given);
  const { services } = assembly;
  const { logger } = services;
  /** The functions that stop the background work. */
  const stops = [() => assembly.calibration.stop()];
  const stop = () => stops.forEach((one) => one());
  try {
    await services.features.open();
    assembly.calibration = await calibrate(settings, services);
    services.shared.sharing.instances.start(assembly.facts);
  } catch (error) {
    stop();
    await assembly.close(0);
    throw error;
  }
  for (const { message, fields } of assembly.baseline?.warnings((given.clock ?? systemClock)()) ?? [])
    logger.warn(fields, message);
  for (const { source, pointer, message } of assembly.warnings) logger.warn({ source, pointer }, message);
  stops.push(assembly.probe());
  services.upstreams.startProbes();
  return {
    assembly,
    async drain(lameDuckMs) {
      assembly.drain.started = true;
      // Load balancers need time to notice that this process is not ready before it refuses connections.
      if (lameDuckMs > 0) await (given.waitLameDuck ?? setTimeout)(lameDuckMs);
      stop();
    },
  };
}

/** Starts a gateway with its own listeners. If a step fails, closes everything that was opened. */
export async function createGateway(settings: Settings, given: GatewayParts = {}): Promise<Gateway> {
  const { assembly, drain } = await startAssembly(settings, given);
  const { host, port, reusePort, adminHost, adminPort } = settings.listen;
  const opened: Listener[] = [];
  const { close: closeAssembly } = assembly;
  const close = async (finishMs: number, lameDuckMs: number) => {
    await drain(lameDuckMs);
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
  const { assembly, drain } = await startAssembly(settings, given);
  const { close: closeAssembly } = assembly;
  let closing: Promise<void> | undefined;
  return Object.assign(assembly, {
    handle: assembly.edges.handle,
    admin: assembly.edges.adminApp,
    close: () => (closing ??= drain(0).then(() => closeAssembly())),
  });
}

/** Returns the default stream for log lines, which are written in batches. The caller must flush the last batch. */
function toStandardOutput(): { readonly stream: DestinationStream; flush(): void } {
  const lines = createLineBatch(bytesTo(1));
  return { stream: lines, flush: () => lines.flush() };
}

function readinessOf(
  { settings: { embedded } }: Assembled,
  calibration: Calibration['state'],
  draining: boolean,
): Readiness {
  const reasons = [
    draining && 'shutting down',
    !embedded &&
      calibration.needed === true &&
      calibration.kind !== 'calibrated' &&
      'credentials cannot be verified yet',
  ].filter((reason) => typeof reason === 'string');
  return { ready: reasons.length === 0, reasons };
}

/** Returns the facts that a gateway reports about itself to the other gateways. */
function instanceFacts({ settings, start, services }: Assembled, startedAt: number, ready: boolean): InstanceFacts {
  const { contract, baseline } = start;
  const accepted = baseline === undefined ? 'none' : JSON.stringify(baseline.read().accepted);
  return {
    name: services.instance,
    version: packageVersion(),
    release: settings.release,
    mode: settings.mode.name,
    contract: contract.version,
    configuration: configurationDigest(settings, start),
    // The baseline can be changed in the console at any time, so the digest is computed for each report.
    baseline: createHash('sha256').update(accepted).digest('hex').slice(0, 12),
    startedAt,
    ready,
  };
}
