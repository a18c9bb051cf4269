import { networkOf } from '../lib/network-address.ts';
import type { Principal } from '../model/principal.ts';
import { UpstreamFailure } from '../model/upstream-failure.ts';
import type { UpstreamOptions } from './upstream-options.ts';

/** The client whose speed a stream goes by. */
export interface StreamOwner {
  /** Undefined where no credential was sent. */
  readonly caller: string | undefined;
  readonly address: string;
}

/** Returns whom the streams of a request count for. */
export function streamOwner({ kind, audience }: Principal, clientAddress: string): StreamOwner {
  return { caller: kind === 'anonymous' ? undefined : audience, address: clientAddress };
}

/**
 * Counts exchanges that last as long as a client wants: bodies that are streamed to it or from it. They have bounds of their
 * own, so that clients that read or write slowly cannot take the places of those that wait for the upstream alone.
 */
interface ClientStreams {
  /** Throws `UpstreamFailure` of kind `shed` when all streams, or all that one client may have, are open. */
  check(owner: StreamOwner): void;
  /** Counts one more, without a check; the function that it returns ends it, once. */
  begin(owner: StreamOwner): () => void;
  /** How many are open. */
  open(): number;
}

// A stream ends when its client wants it to, so nobody knows a better time.
const RETRY_AFTER_SECONDS = 5;

/** Makes the count, with nothing open. */
export function createClientStreams({ total, perCaller, perAddress }: UpstreamOptions['streams']): ClientStreams {
  const shares = new Map<string, number>();
  let open = 0;

  const add = (key: string, step: 1 | -1) => {
    const count = (shares.get(key) ?? 0) + step;
    if (count === 0) shares.delete(key);
    else shares.set(key, count);
  };
  return {
    check(owner) {
      const { address, caller } = keysOf(owner);
      const isFull =
        open >= total ||
        (shares.get(address) ?? 0) >= perAddress ||
        (caller !== undefined && (shares.get(caller) ?? 0) >= perCaller);
      if (isFull) throw new UpstreamFailure('shed', { retryAfterSeconds: RETRY_AFTER_SECONDS });
    },
    begin(owner) {
      const { address, caller } = keysOf(owner);
      const count = (step: 1 | -1) => {
        open += step;
        add(address, step);
        if (caller !== undefined) add(caller, step);
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

/** Returns the names under which a client's streams are counted. */
function keysOf({ caller, address }: StreamOwner) {
  return {
    address: `address ${networkOf(address)}`,
    caller: caller === undefined ? undefined : `caller ${caller}`,
  };
}
