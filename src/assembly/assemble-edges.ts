import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Express } from 'express';
import { withoutLimits } from '../upstream/upstream-options.ts';
import { observesLimits, type Settings } from '../config/settings.ts';
import type { GatewayError } from '../errors/gateway-error.ts';
import { createAdminApp, type Readiness } from '../http/admin-app.ts';
import { createListenerServer, type ListenerServer } from '../http/listen.ts';
import { requestHeadFault } from '../http/malformed.ts';
import { createPublicHandler, type PublicServices } from '../http/public-handler.ts';
import { isLoopbackHost } from '../lib/network-address.ts';
import { createTrace } from '../model/trace.ts';
import type { CompiledGateway } from '../pipeline/compiled-gateway.ts';
import { TRAFFIC_HISTORY } from '../telemetry/traffic-history.ts';
import { publicOriginOf } from '../upstream/addresses.ts';
import type { AssemblyParts, Services } from './assemble-services.ts';
import { createLazyConsole } from './lazy-console.ts';
import type { Start } from './load-start.ts';

/** The public side and the admin side of the gateway. They are not listening yet. */
export interface Edges {
  /** Handles requests that an embedding application's listener receives, after checking the head of each one. */
  readonly handle: RequestListener;
  readonly adminApp: Express;
  readonly publicServer: ListenerServer;
  readonly adminServer: ListenerServer;
  /** Stops the sampling of traffic. */
  close(): void;
}

/** The parts of the gateway's state that the edges read. */
interface EdgeState {
  readonly readiness: () => Readiness;
}

/** Creates the apps and the servers of the public side and the admin side. */
export function assembleEdges(
  settings: Settings,
  start: Start,
  services: Services,
  gateway: CompiledGateway,
  parts: AssemblyParts,
  state: EdgeState,
): Edges {
  const { cache, pageCounts, metrics, kindOf, isAccepted, logger } = services;
  const { listen } = settings;
  const purge = (tags: readonly string[] | 'all'): number => {
    if (tags === 'all') pageCounts.dropAll();
    else pageCounts.drop(tags);
    return tags === 'all' ? cache.purgeAll() : cache.purge(tags);
  };
  metrics.watch({ ready: () => state.readiness().ready });
  const { clock } = parts;
  const publicOrigin = publicOriginOf(settings.publicOrigin);
  const { operations } = start.contract;
  const withErrorMessage = new Set(operations.filter((one) => one.hasErrorMessage).map(({ id }) => id));
  const publicServices: PublicServices = {
    gateway,
    arrival: {
      maxTargetBytes: listen.maxTargetBytes,
      publicBasePath: settings.publicBasePath,
      publicOrigin,
      trustedProxies: listen.trustedProxies,
      clock,
    },
    errorsFor: settings.errorsFor,
    hasErrorMessage: (operationId) => operationId !== undefined && withErrorMessage.has(operationId),
    contractStatusHeader: settings.contractStatusHeader,
    proxyStatusHeader: settings.proxyStatusHeader,
    reportIdOf: (trace, violation) => kindOf(trace.operation, trace.upstream?.status, violation).fingerprint,
    isAccepted: ({ operation, upstream }, violation) => isAccepted(operation, upstream?.status, violation),
    gzip: (key, body) => cache.gzip(key, body),
    clientTimeoutMs: (observesLimits(settings) ? withoutLimits(settings.upstream) : settings.upstream).clientTimeoutMs,
    record: services.recordTrace,
    clock,
  };
  const adminApp = createAdminApp({
    guard: { loopback: isLoopbackHost(listen.adminHost), token: settings.adminToken, clock },
    readiness: state.readiness,
    metrics,
    purge,
    console: createLazyConsole(settings, start, services, gateway, {
      clock,
      purge,
      readiness: state.readiness,
      publicAddress: () => ownAddress(publicServer.server.address()),
    }),
    logger,
  });
  const sampling = setInterval(() => services.traffic.sample(), TRAFFIC_HISTORY.stepSeconds * 1000).unref();
  // A request that is refused before it is read never reaches the application, so it is counted here.
  const onRefused = ({ code, status }: GatewayError, requestId: string) => {
    const trace = createTrace({ requestId, traceparent: '', method: '', startedAt: clock() });
    metrics.record(Object.assign(trace, { error: code, status, seconds: 0 }));
    logger.info({ requestId, error: code }, 'request refused before it was read');
  };
  const publicServer = createListenerServer(createPublicHandler(publicServices), { ...listen, onRefused });
  const adminServer = createListenerServer(adminApp, { ...listen, onRefused });
  const close = () => clearInterval(sampling);
  const handle = createPublicHandler({ ...publicServices, checkHead: requestHeadFault });
  return { handle, adminApp, publicServer, adminServer, close };
}

/**
 * Returns an address at which the process can reach its own listener. If the listener accepts connections on all
 * addresses, this is the loopback address.
 */
export function ownAddress(
  address: AddressInfo | string | null,
): { readonly host: string; readonly port: number } | undefined {
  if (address === null || typeof address === 'string') return undefined;
  const { address: host, port } = address;
  if (host === '0.0.0.0') return { host: '127.0.0.1', port };
  return { host: host === '::' ? '::1' : host, port };
}
