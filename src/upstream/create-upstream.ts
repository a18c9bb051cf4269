import type { Clock } from '../lib/clock.ts';
import type { StreamedBody } from '../model/streamed-body.ts';
import { UpstreamFailure } from '../model/upstream-failure.ts';
import { decodeResponse, transparentResponse } from './response-body.ts';
import type { StreamOwner } from './client-streams.ts';
import {
  queueClient,
  type CircuitChange,
  createUpstreamGate,
  type GateHistory,
  type GatePass,
  type UpstreamGate,
} from './upstream-gate.ts';
import { type AddressChange, createAddressPool } from './pool/address-pool.ts';
import { createConnections } from './connections.ts';
import { createHealthProbes } from './pool/health-probes.ts';
import { upstreamPath } from './addresses.ts';
import type { UpstreamAddress } from './upstream-url.ts';
import { createProxy, sendProxied, isShort, readShort } from './send-proxied.ts';
import { createStop, sendBuffered, type Stop, type WireRequest, sendRequest } from './sending.ts';
import { createRetryBudget } from './retry-budget.ts';
import { type ExceededLimit, observeLimits, type ObservedPass } from './observe-limits.ts';
import { type UpstreamOptions, withoutLimits } from './upstream-options.ts';
import { type AddressHealth, type UpstreamHealth, upstreamHealth } from './upstream-health.ts';
import { wireHeaders } from './headers.ts';
import { type SendOnce, logged } from './logged-attempts.ts';
import type { UpstreamRequest, ExchangedResponse } from './upstream-request.ts';

/** Values for metrics. */
export interface UpstreamStats extends ReturnType<UpstreamGate['stats']> {
  readonly openConnections: number;
  /** The number of exchanges that would have been refused. Counted only if limits are observed rather than enforced. */
  readonly limitsExceeded: number;
  /**
   * The number of retries since startup, by outcome. `refused` counts retries that were not sent because the budget
   * was used up.
   */
  readonly retries: Readonly<Record<'succeeded' | 'failed' | 'refused', number>>;
}

/** Functions that are called when the state of the upstream changes. */
interface UpstreamListeners {
  /** Called when the circuit opens or closes. */
  readonly onCircuit?: ((change: CircuitChange) => void) | undefined;
  /** Called when one of several addresses is ejected or used again. */
  readonly onAddress?: ((change: AddressChange) => void) | undefined;
}

/** The client for the legacy server. */
export interface Upstream {
  /**
   * Sends a request and returns the response. Throws an `UpstreamFailure`, or a `GatewayError` if the target contains
   * characters that cannot be sent.
   */
  exchange(request: UpstreamRequest): Promise<ExchangedResponse>;
  stats(): UpstreamStats;
  history(): GateHistory;
  /** Returns the health of the legacy server, based on its latest responses. */
  health(): UpstreamHealth;
  /** Starts or stops the health probes, if they are configured. In `observe` mode, none are sent. */
  runProbes(isOn: boolean): void;
  /** Waits up to `graceMs` for exchanges in flight to finish, then aborts the remaining ones. */
  close(graceMs?: number): Promise<void>;
}

/**
 * Creates the upstream. No connection is opened before the first exchange. If `observesLimits` is true, exchanges that
 * exceed the limits on time or concurrency are counted but never refused.
 */
export function createUpstream(
  address: UpstreamAddress,
  limits: UpstreamOptions,
  clock: Clock,
  { onCircuit, onAddress }: UpstreamListeners = {},
  observesLimits = false,
): Upstream {
  const options = observesLimits ? withoutLimits(limits) : limits;
  const limitedGate = createUpstreamGate(limits, clock, observesLimits ? undefined : onCircuit);
  const gate = observesLimits ? observeLimits(createUpstreamGate(options, clock), limitedGate) : limitedGate;
  const patienceMs = Math.min(limits.headersTimeoutMs, limits.totalTimeoutMs);
  // In `observe` mode, clients must not notice that Portico reuses connections, so any number of lost requests may be
  // repeated.
  const budget = observesLimits ? undefined : createRetryBudget(options.retryBudget, options.concurrency, clock);
  const retries = { succeeded: 0, failed: 0, refused: 0 };
  let safeRequests = 0;
  let limitsExceeded = 0;
  // With a single address, requests do not pass through a pool.
  const pool =
    limits.alternates.length === 0
      ? undefined
      : createAddressPool([address.origin, ...limits.alternates.map(originOf)], options, clock, onAddress);
  const connections = pool?.connections ?? createConnections(address.origin, options);
  const proxy = pool?.proxy ?? createProxy(address.origin);
  const single = { host: new URL(address.origin).host, connections, probe: undefined as AddressHealth['probe'] };
  const { path: probePath } = limits.probe;
  const probes =
    probePath === undefined || observesLimits
      ? undefined
      : createHealthProbes(
          limits.probe,
          upstreamPath(address.basePath, probePath),
          pool?.addresses ?? [single],
          (probed, result) => (pool === undefined ? void (single.probe = result) : pool.probed(probed, result)),
        );
  /**
   * Returns whether a request that failed before its response began may be repeated, provided that the budget allows
   * it.
   */
  const mayRepeat = (error: unknown, wire: WireRequest) =>
    (isConnectionLost(error) && wire.reused === true) ||
    (pool !== undefined && !observesLimits && (isConnectionLost(error) || isConnectTimeout(error)));

  /**
   * Sends a request at most twice. If a reused connection fails before the response arrives, a safe request is repeated
   * on a new connection, as long as the retry budget allows it. If the upstream has several addresses, a safe request
   * is also repeated, at a different address, if a new connection fails or cannot be opened in time.
   */
  const send = async <T>(request: UpstreamRequest, path: string, sendOnce: SendOnce<T>) => {
    const once = request.log === undefined ? sendOnce : logged(sendOnce, request.log, clock);
    const wire: WireRequest = {
      method: request.method,
      path,
      headers: wireHeaders(request.headers, request.body),
      body: request.body ?? null,
    };
    const isSafe = (request.method === 'GET' || request.method === 'HEAD') && request.body === undefined;
    if (isSafe) {
      safeRequests += 1;
      const progress = { responseStarted: false };
      try {
        return { sent: await once(connections.persistent, wire, progress), attempts: 1 };
      } catch (error) {
        const hasResponded = progress.responseStarted || wire.interim === true;
        if (hasResponded || !mayRepeat(error, wire)) throw error;
        if (budget?.take(safeRequests) === false) {
          retries.refused += 1;
          throw error;
        }
      }
    }
    // `reset` closes the connection after this request.
    const sending = once(connections.fresh(), { ...wire, reset: true }, { responseStarted: false });
    if (!isSafe) return { sent: await sending, attempts: 1 };
    try {
      const sent = await sending;
      retries.succeeded += 1;
      return { sent, attempts: 2 };
    } catch (error) {
      retries.failed += 1;
      throw error;
    }
  };

  /** Sends a request and returns the head of the response and the unread body. */
  const sendStreamed = (request: UpstreamRequest, path: string, stop: Stop) => {
    const bounds = { stop, readerTimeoutMs: options.clientTimeoutMs };
    return send(request, path, (to, wire, progress) => sendRequest(to, wire, bounds, progress));
  };

  const transparent = async (
    request: UpstreamRequest,
    path: string,
    stop: Stop,
    onHead: () => void,
  ): Promise<ExchangedResponse> => {
    const { sent, attempts } = await sendStreamed(request, path, stop);
    onHead();
    return { ...(await transparentResponse(sent, options.maxResponseBytes)), attempts };
  };

  /**
   * Counts the response as one of the client's streams from now on, because the client determines how long it takes.
   */
  const continueAsStream = (
    { method, owner = noOwner }: UpstreamRequest,
    body: StreamedBody,
    pass: GatePass,
    done: (failure?: UpstreamFailure) => void,
  ) => {
    try {
      // A write cannot be undone, so its response is always forwarded.
      if (method === 'GET' || method === 'HEAD') gate.checkStreams(owner());
    } catch (error) {
      body.destroy();
      throw error;
    }
    pass.stream(owner());
    body.onEnd(done);
  };

  const streamed = async (request: UpstreamRequest, path: string, stop: Stop) => {
    const { method, headers, body, upload } = request;
    if (upload !== undefined) {
      const proxied = { method, path, headers, body: body ?? upload.stream, length: upload.length };
      return { ...(await sendProxied(proxy, proxied, { stop, options })), attempts: 1 };
    }
    const { sent, attempts } = await sendStreamed(request, path, stop);
    return { ...sent, attempts };
  };

  const attempt = async (
    request: UpstreamRequest,
    enter: () => GatePass | Promise<GatePass>,
  ): Promise<ExchangedResponse> => {
    const path = upstreamPath(address.basePath, request.target);
    const admission = enter();
    const pass: ObservedPass = admission instanceof Promise ? await admission : admission;
    const startedAt = observesLimits ? clock() : 0;
    const { signal, owner = noOwner } = request;
    /** Returns the limit that the exchange had exceeded when the head of its response arrived or when it failed. */
    const exceeded = (): ExceededLimit | undefined => {
      if (!observesLimits) return undefined;
      if (clock() - startedAt > patienceMs) pass.exceeded ??= 'deadline';
      if (pass.exceeded !== undefined) limitsExceeded += 1;
      return pass.exceeded;
    };
    const stop = createStop();
    const abort = () => stop.stop(new UpstreamFailure('aborted', { cause: signal?.reason }));
    // A stream in either direction may take as long as the client needs. A separate limit applies to the upstream's
    // pauses.
    const timer =
      request.mode === 'streamed'
        ? undefined
        : setTimeout(() => stop.stop(new UpstreamFailure('deadline')), options.totalTimeoutMs);
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort, { once: true });
    const done = (failure?: UpstreamFailure) => {
      signal?.removeEventListener('abort', abort);
      pass.leave(failure, request.page);
    };
    try {
      if (request.mode === 'buffered') {
        const bounds = { stop, limit: options.maxResponseBytes };
        const { sent, attempts } = await send(request, path, (to, wire, progress) =>
          sendBuffered(to, wire, bounds, progress),
        );
        const decoded = decodeResponse(request.method, sent, options.maxResponseBytes);
        const { status, headers, body } = decoded instanceof Promise ? await decoded : decoded;
        done();
        return { status, headers, body, attempts };
      }
      if (request.mode === 'streamed') {
        // While this request was waiting for its body or for a slot, other requests may have opened streams.
        const hasWaited = admission instanceof Promise || request.upload !== undefined;
        if (hasWaited && !isStreamedUp(request)) gate.checkStreams(owner());
        const response = await streamed(request, path, stop);
        pass.stream(owner());
        response.body.onEnd(done);
        return { ...response, exceeded: exceeded() };
      }
      // A transparent body may take any amount of time as long as bytes keep arriving. A separate limit applies to
      // pauses.
      const response = await transparent(request, path, stop, () => clearTimeout(timer));
      if (Buffer.isBuffer(response.body)) done();
      else continueAsStream(request, response.body, pass, done);
      return { ...response, exceeded: exceeded() };
    } catch (error) {
      exceeded();
      done(error instanceof UpstreamFailure ? error : new UpstreamFailure('aborted'));
      throw error;
    } finally {
      clearTimeout(timer);
    }
  };

  /** Handles one exchange whose response is streamed. */
  const streamedDown = async (
    request: UpstreamRequest,
    enter: () => GatePass | Promise<GatePass>,
  ): Promise<ExchangedResponse> => {
    const { owner = noOwner, upload } = request;
    // The limit is checked before anything is sent, because the response to a write that the upstream has carried out
    // must not be refused.
    gate.checkStreams(owner());
    const complete =
      upload === undefined ? request : { ...request, body: await readShort(upload, options.clientTimeoutMs) };
    return attempt(complete, enter);
  };

  return {
    exchange(request) {
      const { signal, owner = noOwner } = request;
      if (isStreamedUp(request)) return attempt(request, () => gate.enterStream(owner()));
      const enter = () => gate.enter(() => ({ signal, client: queueClient(owner()) }));
      return request.mode === 'streamed' ? streamedDown(request, enter) : attempt(request, enter);
    },
    stats: () => ({ ...gate.stats(), openConnections: connections.open(), limitsExceeded, retries: { ...retries } }),
    history: () => gate.history(),
    health: () =>
      upstreamHealth({
        // In `observe` mode, the real circuit never opens, so the state of the simulated one is reported.
        circuit: limitedGate.stats().circuit,
        isObserved: observesLimits,
        addresses: pool?.health() ?? [
          {
            address: single.host,
            state: 'healthy',
            inFlight: gate.stats().inFlight,
            retrySeconds: 0,
            probe: single.probe,
          },
        ],
      }),
    runProbes: (isOn) => probes?.run(isOn),
    async close(graceMs = 10_000) {
      probes?.run(false);
      const { promise: grace, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, graceMs);
      await Promise.race([connections.close(), grace]);
      clearTimeout(timer);
      await connections.destroy();
    },
  };
}

// The owner of requests that are not sent on behalf of a client. Such requests are never streamed.
const noOwner = (): StreamOwner => ({ caller: undefined, isVerified: false, address: '' });

const isStreamedUp = ({ body, upload }: UpstreamRequest) =>
  (body !== undefined && !Buffer.isBuffer(body)) || (upload !== undefined && !isShort(upload));

// A reused connection can also close before the request has been written to it, in which case the error looks like a
// failed attempt to connect.
const isConnectionLost = (error: unknown) =>
  error instanceof UpstreamFailure && (error.kind === 'reset' || error.kind === 'refused');

const isConnectTimeout = (error: unknown) =>
  error instanceof UpstreamFailure && error.facts?.cause === 'connection_timeout';

const originOf = (url: string) => new URL(url).origin;
