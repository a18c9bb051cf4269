import { networkOf } from '../../lib/network-address.ts';
import { UpstreamFailure } from '../model/upstream-failure.ts';
import type { StreamOwner } from './stream-owner.ts';
import type { UpstreamOptions } from './upstream-options.ts';

/**
 * Counts the exchanges that stream a body to or from a client. The client's speed determines how long they take, so
 * they have separate limits. Slow clients therefore cannot take slots from exchanges that wait only for the upstream.
 */
interface ClientStreams {
  /**
   * Throws an `UpstreamFailure` of kind `shed` if the total limit or the per-client limit on open streams is reached.
   */
  check(owner: StreamOwner): void;
  /** Counts a stream without checking the limits. The first call to the returned function ends the stream. */
  begin(owner: StreamOwner): () => void;
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
      // `retryAfterSeconds` is constant, because there is no way to predict when a client will end its stream.
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

function add(shares: Map<string, number>, key: string, step: 1 | -1): void {
  const count = (shares.get(key) ?? 0) + step;
  if (count === 0) shares.delete(key);
  else shares.set(key, count);
}
