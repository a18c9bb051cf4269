import { networkOf } from '../lib/network-address.ts';
import type { Principal } from '../model/principal.ts';
import { UpstreamFailure } from '../model/upstream-failure.ts';
import type { UpstreamOptions } from './upstream-options.ts';

/** The client that determines the speed of a stream. */
export interface StreamOwner {
  /** Undefined if no credential was sent. */
  readonly caller: string | undefined;
  readonly address: string;
}

/** Returns the client whose streams a request counts toward. */
export function streamOwner({ kind, audience }: Principal, clientAddress: string): StreamOwner {
  return { caller: kind === 'anonymous' ? undefined : audience, address: clientAddress };
}

/**
 * Counts the exchanges whose duration depends on the client: bodies that are streamed to or from it. They have separate
 * limits, so that slow clients cannot take the places of exchanges that only wait for the upstream.
 */
interface ClientStreams {
  /** Throws `UpstreamFailure` of kind `shed` if the limit on open streams, in total or per client, is reached. */
  check(owner: StreamOwner): void;
  /** Counts a stream without checking the limits. Returns a function that ends it; repeated calls have no effect. */
  begin(owner: StreamOwner): () => void;
  /** The number of open streams. */
  open(): number;
}

/** Creates a counter with no open streams. */
export function createClientStreams({ total, perCaller, perAddress }: UpstreamOptions['streams']): ClientStreams {
  const byAddress = new Map<string, number>();
  const byCaller = new Map<string, number>();
  let open = 0;

  return {
    check({ address, caller }) {
      const isFull =
        open >= total ||
        (byAddress.get(networkOf(address)) ?? 0) >= perAddress ||
        (caller !== undefined && (byCaller.get(caller) ?? 0) >= perCaller);
      // The time is fixed because the end of a stream depends on its client.
      if (isFull) throw new UpstreamFailure('shed', { retryAfterSeconds: 5 });
    },
    begin({ address, caller }) {
      const network = networkOf(address);
      const count = (step: 1 | -1) => {
        open += step;
        add(byAddress, network, step);
        if (caller !== undefined) add(byCaller, caller, step);
      };
      count(1);
      let ended = false;
      return () => {
        if (ended) return;
        ended = true;
        count(-1);
      };
    },
    open: () => open,
  };
}

/** Changes the number of streams under a key. */
function add(shares: Map<string, number>, key: string, step: 1 | -1): void {
  const count = (shares.get(key) ?? 0) + step;
  if (count === 0) shares.delete(key);
  else shares.set(key, count);
}
