import type { Readable } from 'node:stream';
import type { Clock } from '../../lib/clock.ts';
import type { Cancellation } from '../model/arrival.ts';
import type { HeaderPairs } from '../model/header-pairs.ts';
import type { StreamedBody } from '../model/streamed-body.ts';
import type { AttemptLog } from '../model/trace.ts';
import { UpstreamFailure } from '../model/upstream-failure.ts';
import {
  type CodingFault,
  type DecodedResponse,
  decodeResponse,
  transparentResponse,
  type UpstreamResponse,
} from './response-body.ts';
import { type AsideRequest, createAside } from './aside.ts';
import { createCodingMemory } from './coding-memory.ts';
import { type CircuitChange, createUpstreamGate, type GateHistory, type GatePass } from './upstream-gate.ts';
import {
  type AddressChange,
  createAddressPool,
  type Outcome,
  outcomeOfFailure,
  outcomeOfStatus,
} from './pool/address-pool.ts';
import { createConnections } from './connections.ts';
import { createHealthProbes } from './pool/health-probes.ts';
import type { UpstreamAddress } from './upstream-url.ts';
import { createProxy, sendProxied, isShort, readShort, type Upload } from './send-proxied.ts';
import { queueClient, type StreamOwner } from './stream-owner.ts';
import { createStop, sendBuffered, sendStreamed, type Stop, upstreamPath } from './sending.ts';
import { createRetryBudget, createRetryingSender, type SendOnce } from './retries.ts';
import { type ExceededLimit, observeLimits, type ObservedPass } from './observe-limits.ts';
import { type UpstreamOptions, withoutLimits } from './upstream-options.ts';
import { type AddressHealth, type UpstreamHealth, upstreamHealth } from './upstream-health.ts';
import type { ExchangeSession } from './sessions.ts';
import type { UpstreamStats } from './upstream-stats.ts';
import { wireHeaders } from './headers.ts';

/** One request to the upstream. */
export interface UpstreamRequest {
  readonly method: string;
  /** The raw path and query, relative to the base address. The base path is added when the request is sent. */
  readonly target: string;
  /**
   * The headers to send. Hop-by-hop headers, `Host` and `Expect` are omitted from the request, and the content length
   * is recomputed.
   */
  readonly headers: HeaderPairs;
  readonly body?: Buffer | Readable;
  /** A client's body, which the proxy library sends. Used only in the `streamed` mode. */
  readonly upload?: Upload | undefined;
  /**
   * The caller's session with the upstream. Undefined if cookies are forwarded unchanged in both directions, as in
   * `observe` mode.
   */
  readonly session?: ExchangeSession | undefined;
  readonly signal?: Cancellation;
  /**
   * Returns the client to which the request and its streams belong. Required if a body may be streamed in either
   * direction.
   */
  readonly owner?: () => StreamOwner;
  /** The operation whose content codings are remembered. Undefined for requests that belong to no operation. */
  readonly operation?: string;
  /**
   * Identifies the requested page. Undefined for a write and for an undocumented path. Failures of a single page never
   * open the circuit, so a caller who keeps requesting a page that fails does not keep others from the upstream.
   */
  readonly page?: string | undefined;
  /**
   * The form of the response.
   *
   * `buffered`: the whole body without its content coding, or a failure.
   *
   * `transparent`: the bytes as received. A body that is too large or broken becomes a stream that ends or fails in the
   * same way as the received body.
   *
   * `streamed`: the bytes as received, always as a stream. Once its head has arrived, the response counts as one of the
   * client's streams.
   */
  readonly mode: 'buffered' | 'transparent' | 'streamed';
  /**
   * Records every attempt to send the request, and provides the span id of each attempt. Undefined if spans are not
   * exported.
   */
  readonly log?: AttemptLog | undefined;
}

/** A response, and the number of times the request was sent. */
export interface ExchangedResponse extends UpstreamResponse {
  readonly attempts: number;
  /**
   * Why the content coding of the first response could not be removed. The body is decoded only if sending the request
   * again helped. Otherwise, it still has its `Content-Encoding`.
   */
  readonly codingFault?: CodingFault;
  /** The limit that would have refused the exchange. Set only if limits are observed rather than enforced. */
  readonly exceeded?: ExceededLimit | undefined;
}

/** Callbacks for changes in the state of the upstream. */
interface UpstreamListeners {
  /** Called when the circuit opens or closes. */
  readonly onCircuit?: ((change: CircuitChange) => void) | undefined;
  /** Called when one of several addresses is ejected or used again. */
  readonly onAddress?: ((change: AddressChange) => void) | undefined;
  /** Called with the number of bytes whenever some arrive, except in response to `exchangeAside`. */
  readonly onReceived?: ((bytes: number) => void) | undefined;
}

/** The client for the legacy server. */
export interface Upstream {
  /**
   * Sends a request and returns the response. Throws an `UpstreamFailure`, or a `GatewayError` if the target contains
   * characters that cannot be sent.
   */
  exchange(request: UpstreamRequest): Promise<ExchangedResponse>;
  /**
   * Sends a safe request for which no client waits, over connections of its own. The request takes no slot, is never
   * retried, and counts nowhere: not for the circuit, the addresses or the statistics. The configured limits on time
   * and size apply in every mode. Returns undefined if no slot is free or if the circuit is not closed; in `observe`
   * mode, if this would be the case outside it. Otherwise, resolves with the response, or rejects with an
   * `UpstreamFailure`. Throws a `GatewayError` if the target contains characters that cannot be sent.
   */
  exchangeAside(request: AsideRequest): Promise<DecodedResponse> | undefined;
  stats(): UpstreamStats;
  history(): GateHistory;
  /** Returns the health of the legacy server, based on its most recent responses. */
  health(): UpstreamHealth;
  /** Ends a pause because of earlier failures. */
  closeCircuit(): void;
  /** Starts or stops the health probes, if configured. No probes are sent in `observe` mode. */
  runProbes(isOn: boolean): void;
  /** Waits up to `graceMs` for exchanges in flight to finish, then aborts the remaining exchanges. */
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
  { onCircuit, onAddress, onReceived }: UpstreamListeners = {},
  observesLimits = false,
): Upstream {
  const options = observesLimits ? withoutLimits(limits) : limits;
  const limitedGate = createUpstreamGate(limits, clock, observesLimits ? undefined : onCircuit);
  const gate = observesLimits ? observeLimits(createUpstreamGate(options, clock), limitedGate) : limitedGate;
  const patienceMs = Math.min(limits.headersTimeoutMs, limits.totalTimeoutMs);
  let limitsExceeded = 0;
  const origins = [address.origin, ...limits.alternates.map(originOf)];
  // With a single address, requests do not pass through a pool.
  const connectionsTo = (origin: string) => createConnections(origin, options, onReceived);
  const pool =
    limits.alternates.length === 0
      ? undefined
      : createAddressPool(origins, { ...options, connectionsTo }, clock, onAddress);
  const connections = pool?.connections ?? connectionsTo(address.origin);
  const proxy = pool?.proxy ?? createProxy(address.origin, options);
  const single = {
    host: new URL(address.origin).host,
    connections,
    probe: undefined as AddressHealth['probe'],
    requests: { succeeded: 0, failed: 0 },
  };
  const tally = (outcome: Outcome) => {
    if (outcome !== 'neutral') single.requests[outcome] += 1;
  };
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
  const aside = createAside(limits);
  /** Returns an address that is in use, or the first one if there is none. */
  const originInUse = () => {
    const health = pool?.health() ?? [];
    const index = health.findIndex(({ state, probe }) => state === 'healthy' && probe !== 'failed');
    return origins[index] ?? address.origin;
  };
  const codings = createCodingMemory(clock);
  const retrying = createRetryingSender(
    connections,
    {
      // In `observe` mode, clients must not notice that Portico reuses connections, so retries after a lost connection
      // are not limited.
      budget: observesLimits ? undefined : createRetryBudget(options.retryBudget, options.concurrency, clock),
      hasOtherAddress: pool !== undefined && !observesLimits,
    },
    clock,
  );
  const { host } = address;
  const headersOf: typeof wireHeaders =
    host === undefined ? wireHeaders : (headers, body) => ['Host', host, ...wireHeaders(headers, body)];
  const send = <T>({ method, headers, body, session, log }: UpstreamRequest, path: string, sendOnce: SendOnce<T>) =>
    retrying.send({ method, path, headers: headersOf(headers, body), body: body ?? null, session }, sendOnce, log);

  const sendAndDecode = async (request: UpstreamRequest, path: string, stop: Stop): Promise<BufferedExchange> => {
    const bounds = { stop, limit: options.maxResponseBytes };
    const { sent, attempts } = await send(request, path, (to, wire, progress) =>
      sendBuffered(to, wire, bounds, progress),
    );
    const decoded = decodeResponse(request.method, sent, options.maxResponseBytes);
    return { ...(decoded instanceof Promise ? await decoded : decoded), attempts };
  };

  /**
   * Sends a request and returns the decoded response. If its content coding cannot be removed, a safe request is sent
   * once more, without asking for a coding. If that does not help, the first response is returned as received.
   */
  const buffered = async (request: UpstreamRequest, path: string, stop: Stop): Promise<BufferedExchange> => {
    const { operation } = request;
    const asksForNone = operation !== undefined && codings.asksForNone(operation);
    const first = await sendAndDecode(asksForNone ? withoutCoding(request) : request, path, stop);
    if (first.codingFault === undefined) return first;
    if (operation !== undefined) codings.remember(operation);
    if (asksForNone || !isSafe(request)) return first;
    const second = await sendAndDecode(withoutCoding(request), path, stop).catch((error: unknown) => {
      if (error instanceof UpstreamFailure && error.kind === 'aborted') throw error;
      return undefined;
    });
    const attempts = first.attempts + (second?.attempts ?? 1);
    const helped = second !== undefined && second.codingFault === undefined && second.status < 500;
    return { ...(helped ? second : first), codingFault: first.codingFault, attempts };
  };

  /** Sends a request and returns the head of the response and the unread body. */
  const sendAndStream = (request: UpstreamRequest, path: string, stop: Stop) => {
    const bounds = { stop, readerTimeoutMs: options.clientTimeoutMs };
    return send(request, path, (to, wire, progress) => sendStreamed(to, wire, bounds, progress));
  };

  const transparent = async (
    request: UpstreamRequest,
    path: string,
    stop: Stop,
    onHead: () => void,
  ): Promise<ExchangedResponse> => {
    const { sent, attempts } = await sendAndStream(request, path, stop);
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
    const { method, headers, body, upload, session } = request;
    if (upload !== undefined) {
      const proxied = { method, path, headers, body: body ?? upload.stream, length: upload.length, session };
      return { ...(await sendProxied(proxy, proxied, { stop, options })), attempts: 1 };
    }
    const { sent, attempts } = await sendAndStream(request, path, stop);
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
    /** Returns the limit, if any, that the exchange exceeded before it failed or its response head arrived. */
    const exceeded = (): ExceededLimit | undefined => {
      if (!observesLimits) return undefined;
      if (clock() - startedAt > patienceMs) pass.exceeded ??= 'deadline';
      if (pass.exceeded !== undefined) limitsExceeded += 1;
      return pass.exceeded;
    };
    const stop = createStop();
    const abort = () => stop.stop(new UpstreamFailure('aborted', { cause: signal?.reason }));
    // A stream in either direction may take as long as the client needs. A separate limit applies to pauses by the
    // upstream.
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
        const response = await buffered(request, path, stop);
        tally(outcomeOfStatus(response.status));
        done();
        return response;
      }
      if (request.mode === 'streamed') {
        // While this request was waiting for its body or for a slot, other requests may have opened streams.
        const hasWaited = admission instanceof Promise || request.upload !== undefined;
        if (hasWaited && !isStreamedUp(request)) gate.checkStreams(owner());
        const response = await streamed(request, path, stop);
        tally(outcomeOfStatus(response.status));
        pass.stream(owner());
        response.body.onEnd(done);
        return { ...response, exceeded: exceeded() };
      }
      // A transparent body may take any amount of time, as long as bytes keep arriving. A separate limit applies to
      // pauses.
      const response = await transparent(request, path, stop, () => clearTimeout(timer));
      tally(outcomeOfStatus(response.status));
      if (Buffer.isBuffer(response.body)) done();
      else continueAsStream(request, response.body, pass, done);
      return { ...response, exceeded: exceeded() };
    } catch (error) {
      tally(outcomeOfFailure(error));
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
    // The limit is checked before anything is sent, because once the upstream has carried out a write, its response
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
    exchangeAside(request) {
      const path = upstreamPath(address.basePath, request.target);
      const { circuit, inFlight, queued } = limitedGate.stats();
      const isFull = queued > 0 || inFlight + aside.inFlight >= limits.concurrency;
      return isFull || circuit !== 'closed' ? undefined : aside.send(originInUse(), path, request);
    },
    stats: () => ({ ...gate.stats(), openConnections: connections.open(), limitsExceeded, retries: retrying.counts() }),
    history: () => gate.history(),
    closeCircuit: () => gate.closeCircuit(),
    health: () =>
      upstreamHealth({
        // In `observe` mode, the real circuit never opens, so the state of the simulated circuit is reported.
        circuit: limitedGate.stats().circuit,
        isObserved: observesLimits,
        addresses: pool?.health() ?? [
          {
            address: single.host,
            state: 'healthy',
            inFlight: gate.stats().inFlight,
            retrySeconds: 0,
            probe: single.probe,
            requests: { ...single.requests },
          },
        ],
      }),
    runProbes: (isOn) => probes?.run(isOn),
    async close(graceMs = 10_000) {
      probes?.run(false);
      await aside.destroy();
      const { promise: grace, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, graceMs);
      await Promise.race([connections.close(), grace]);
      clearTimeout(timer);
      await connections.destroy();
    },
  };
}

/** A buffered response, and the number of times the request was sent. */
interface BufferedExchange extends DecodedResponse {
  readonly attempts: number;
}

const isSafe = ({ method, body }: UpstreamRequest) => (method === 'GET' || method === 'HEAD') && body === undefined;

/** Returns the request in a form that asks for a response without a content coding. */
function withoutCoding(request: UpstreamRequest): UpstreamRequest {
  const others = request.headers.filter(([name]) => name.toLowerCase() !== 'accept-encoding');
  return { ...request, headers: [...others, ['Accept-Encoding', 'identity']] };
}

// The owner of requests that are not sent on behalf of a client. Such requests are never streamed.
const noOwner = (): StreamOwner => ({ caller: undefined, isVerified: false, address: '' });

const isStreamedUp = ({ body, upload }: UpstreamRequest) =>
  (body !== undefined && !Buffer.isBuffer(body)) || (upload !== undefined && !isShort(upload));

const originOf = (url: string) => new URL(url).origin;
