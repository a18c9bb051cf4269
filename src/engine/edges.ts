import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Express } from 'express';
import { observesLimits, withoutLimits } from './upstream/upstream-options.ts';
import type { GatewayError } from './errors/gateway-error.ts';
import { arrivalOptions } from './http/arrival.ts';
import { createAdminApp } from './http/admin-app.ts';
import { createListenerServer, type ListenerServer } from './http/listen.ts';
import { type TlsCertificate, type TlsIdentity, watchTlsCertificate } from './http/tls-certificate.ts';
import { connectWithin, type SecureListening } from './http/tls-listener.ts';
import { createPublicApp, type PublicAppServices } from './http/public-app.ts';
import { requestHeadFault } from './http/malformed.ts';
import type { Clock } from '../lib/clock.ts';
import { isLoopbackHost, reachableHost } from '../lib/network-address.ts';
import { createTrace } from './model/trace.ts';
import type { GatewayControls } from './running-gateway.ts';
import type { InUse } from './services.ts';

/** The public side and the admin side of the gateway, before they start listening. */
export interface Edges {
  /** Handles requests received by the embedding application's listener. Checks each request's head first. */
  readonly handle: RequestListener;
  readonly adminApp: Express;
  readonly publicServer: ListenerServer;
  readonly adminServer: ListenerServer;
  /** Makes both sides use a newly assembled gateway for new requests. If this throws, both still use the earlier one. */
  use(next: InUse): void;
  publicAddress: GatewayControls['publicAddress'];
  /** Closes the certificate watcher. */
  close(): void;
}

/** Creates the apps and servers for the public side and the admin side. */
export function openEdges(first: InUse): Edges {
  const { settings, clock, logger, metrics, upstreams, purge, controls, current } = first;
  const { listen } = settings;
  const admin = createAdminApp({
    guard: {
      loopback: isLoopbackHost(listen.adminHost),
      token: settings.adminToken,
      operators: settings.operators,
      clock,
    },
    readiness: controls.readiness,
    upstreamHealth: () => upstreams.current.health(),
    metrics: { exposition: metrics.exposition, formatFor: metrics.formatFor, contentTypes: metrics.contentTypes },
    purge,
    reload: () => controls.reload('admin'),
    acted: (action) => current()?.features.acted(action),
    clock,
    logger,
  });
  admin.prepare(first.features.adminRoutes())();
  // The application counts the requests that it receives. A request refused earlier is counted and logged here.
  const onRefused = ({ code, status }: GatewayError, requestId: string) => {
    const trace = createTrace({ requestId, traceparent: '', method: '', startedAt: clock() });
    metrics.record(Object.assign(trace, { error: code, status, seconds: 0 }));
    logger.info({ requestId, error: code }, 'request refused before it was read');
  };
  const own = createPublicApp(publicServicesOf(first));
  const mounted = createPublicApp(withHeadCheck(publicServicesOf(first)));
  const tls = secureListening(first);
  const publicServer = createListenerServer(own.handle, {
    ...listen,
    onRefused,
    secure: tls?.listening,
    messages: own.messages,
  });
  const certificate = tls?.watch(publicServer.server, clock);
  const adminServer = createListenerServer(admin.app, { ...listen, onRefused });
  return {
    handle: mounted.handle,
    adminApp: admin.app,
    publicServer,
    adminServer,
    publicAddress() {
      const address = ownAddress(publicServer.server.address());
      return address && { ...address, ...(tls && { connect: () => connectWithin(publicServer.server) }) };
    },
    use(next) {
      // What can fail comes before the first change.
      const serveRoutes = admin.prepare(next.features.adminRoutes());
      const services = publicServicesOf(next);
      if (next.start.tls !== undefined) certificate?.use(next.start.tls);
      serveRoutes();
      own.use(services);
      mounted.use(withHeadCheck(services));
    },
    close() {
      certificate?.close();
    },
  };
}

/** Adds the request-head check, which only the gateway's own listener performs automatically. */
const withHeadCheck = (services: PublicAppServices): PublicAppServices => ({
  ...services,
  checkHead: requestHeadFault,
});

const notAfter = ({ notAfter: at }: TlsIdentity) => new Date(at).toISOString();

/** Returns the TLS options of the public listener, or undefined if TLS is not used. */
function secureListening({ settings, start: { tls: identity }, metrics, logger }: InUse) {
  const { tls: options } = settings.listen;
  if (options === undefined || identity === undefined) return undefined;
  let failedHandshakes = 0;
  const listening: SecureListening = { options, identity, onHandshakeFailed: () => (failedHandshakes += 1) };
  const watch = (server: ListenerServer['server'], clock: Clock): TlsCertificate | undefined => {
    if (!('setSecureContext' in server)) return undefined;
    const certificate = watchTlsCertificate({
      options,
      identity,
      server,
      clock,
      onReplaced: (next) =>
        logger.info({ fingerprint: next.fingerprint, notAfter: notAfter(next) }, 'the TLS certificate was replaced'),
      onRefused: (faults) =>
        logger.error({ faults }, 'the new TLS certificate cannot be used: the previous one stays in use'),
    });
    if (identity.notAfter <= clock())
      logger.warn({ notAfter: notAfter(identity) }, 'the TLS certificate has expired, so clients will refuse it');
    metrics.watch({
      certificateNotAfter: () => certificate.notAfter() / 1000,
      certificateOutdated: certificate.isOutdated,
      failedHandshakes: () => failedHandshakes,
    });
    return certificate;
  };
  return { listening, watch };
}

/** Returns the services that the public side uses for new requests. */
function publicServicesOf(inUse: InUse): PublicAppServices {
  const { settings, start, gateway, features, clock, cache, kindOf, acceptance } = inUse;
  const forms = new Map(start.contract.operations.map(({ id, documentedForm }) => [id, documentedForm]));
  const [firstForm] = settings.profile.serverErrors;
  return {
    gateway,
    arrival: { ...arrivalOptions(settings, clock), sampling: start.sampling },
    errorsFor: settings.errorsFor,
    documentedForm: (operationId) => (operationId === undefined ? firstForm : forms.get(operationId)),
    contractStatusHeader: settings.contractStatusHeader,
    proxyStatusHeader: settings.proxyStatusHeader,
    middleware: features.middleware,
    methodsAt: features.methodsAt,
    addFeatureHeaders: features.addHeaders,
    reportIdOf: (trace, violation) => kindOf(trace.operation, trace.upstream?.status, violation).fingerprint,
    isAccepted: ({ operation, upstream }, violation) => acceptance.isAccepted(operation, upstream?.status, violation),
    coded: (key, body, codings) => cache.coded(key, body, codings),
    clientTimeoutMs: (observesLimits(settings) ? withoutLimits(settings.upstream) : settings.upstream).clientTimeoutMs,
    record: inUse.recordTrace,
    clock,
  };
}

/**
 * Returns an address that the process can use to reach its own listener. If the listener is bound to all addresses,
 * this is the loopback address.
 */
export function ownAddress(
  address: AddressInfo | string | null,
): { readonly host: string; readonly port: number } | undefined {
  if (address === null || typeof address === 'string') return undefined;
  return { host: reachableHost(address.address), port: address.port };
}
