import type { Cancellation } from '../model/arrival.ts';
import type { HeaderPairs } from '../model/header-pairs.ts';
import { UpstreamFailure } from '../model/upstream-failure.ts';
import { type Connections, createConnections } from './connections.ts';
import { wireHeaders } from './headers.ts';
import { type DecodedResponse, decodeResponse } from './response-body.ts';
import { createStop, sendBuffered } from './sending.ts';
import type { ExchangeSession } from './sessions.ts';
import type { UpstreamOptions } from './upstream-options.ts';

/** A safe request that is sent aside from the clients' requests. It has no body, and its response is read into memory. */
export interface AsideRequest {
  readonly method: 'GET' | 'HEAD';
  /** The raw path and query, relative to the base address. */
  readonly target: string;
  readonly headers: HeaderPairs;
  /** The caller's session with the upstream. Undefined if cookies are forwarded unchanged in both directions. */
  readonly session?: ExchangeSession | undefined;
  readonly signal: Cancellation;
}

/**
 * Sends requests for which no client waits, over connections of its own, so that they affect neither clients nor what is
 * known about the upstream.
 */
interface Aside {
  /** The number of requests in progress. */
  readonly inFlight: number;
  /** Sends a request once, to one of the upstream's addresses. Rejects with an `UpstreamFailure`. */
  send(origin: string, path: string, request: AsideRequest): Promise<DecodedResponse>;
  /** Aborts the requests in progress and closes the connections. */
  destroy(): Promise<void>;
}

/** Creates the sender. No connection is opened before the first request. */
export function createAside(options: UpstreamOptions): Aside {
  const connections = new Map<string, Connections>();
  let inFlight = 0;
  const connectionsTo = (origin: string): Connections => {
    const known = connections.get(origin) ?? createConnections(origin, options);
    connections.set(origin, known);
    return known;
  };
  return {
    get inFlight() {
      return inFlight;
    },
    async send(origin, path, { method, headers, session, signal }) {
      const stop = createStop();
      const abort = () => stop.stop(new UpstreamFailure('aborted', { cause: signal.reason }));
      const timer = setTimeout(() => stop.stop(new UpstreamFailure('deadline')), options.totalTimeoutMs);
      if (signal.aborted) abort();
      signal.addEventListener('abort', abort, { once: true });
      const wire = { method, path, headers: wireHeaders(headers, undefined), body: null, session };
      const limit = options.maxResponseBytes;
      inFlight += 1;
      try {
        const { persistent } = connectionsTo(origin);
        const sent = await sendBuffered(persistent, wire, { stop, limit }, { responseStarted: false });
        return await decodeResponse(method, sent, limit);
      } finally {
        inFlight -= 1;
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
      }
    },
    destroy: async () => void (await Promise.all([...connections.values()].map((one) => one.destroy()))),
  };
}
