import type { ExchangedResponse, Upstream, UpstreamRequest } from '../../src/engine/upstream/create-upstream.ts';

/** Creates an upstream that returns the test's responses without a network and records the requests. */
export function fakeExchanges(respond: (request: UpstreamRequest) => ExchangedResponse | Promise<ExchangedResponse>): {
  readonly upstream: Upstream;
  readonly sent: UpstreamRequest[];
} {
  const sent: UpstreamRequest[] = [];
  const upstream: Upstream = {
    exchange: async (request) => {
      sent.push(request);
      return respond(request);
    },
    exchangeAside: () => undefined,
    stats: () => ({
      inFlight: 0,
      queued: 0,
      streams: 0,
      circuit: 'closed',
      openConnections: 0,
      limitsExceeded: 0,
      retries: { succeeded: 0, failed: 0, refused: 0 },
    }),
    history: () => ({ lastFailure: undefined, changes: [] }),
    closeCircuit: () => undefined,
    health: () => ({ status: 'healthy', reasons: [], addresses: [] }),
    runProbes: () => undefined,
    close: () => Promise.resolve(),
  };
  return { upstream, sent };
}
