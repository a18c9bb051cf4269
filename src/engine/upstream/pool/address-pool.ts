import type { Dispatcher } from 'undici';
import type { Clock } from '../../../lib/clock.ts';
import { UpstreamFailure, type UpstreamFailureKind } from '../../model/upstream-failure.ts';
import type { Connections } from '../connections.ts';
import { createProxy, type Proxy } from '../send-proxied.ts';
import { sendingFailure, type WireRequest } from '../sending.ts';
import type { AddressHealth } from '../upstream-health.ts';
import type { UpstreamOptions } from '../upstream-options.ts';

/** One address of the upstream, as used by the probes. */
export interface ProbedAddress {
  /** The host and the port. */
  readonly host: string;
  readonly connections: Connections;
  probe: AddressHealth['probe'];
}

/** An address that has been ejected or is back in use. */
export interface AddressChange {
  readonly address: string;
  /** How long the address stays ejected, in seconds. 0 if it is back in use. */
  readonly ejectedSeconds: number;
}

/** Distributes requests among several addresses of the upstream, and avoids those that fail. */
interface AddressPool {
  /** Sends each request over a connection to the address chosen for it. */
  readonly connections: Connections;
  /** A proxy that uses the address chosen for each request. */
  readonly proxy: Proxy;
  readonly addresses: readonly ProbedAddress[];
  /** Records a change in the result of an address's probes. */
  probed(address: ProbedAddress, result: 'passed' | 'failed'): void;
  health(): readonly AddressHealth[];
}

interface Member extends ProbedAddress {
  readonly proxy: Proxy;
  inFlight: number;
  /** The number of failures since the last success. */
  failures: number;
  /** The number of ejections since the last success. */
  ejections: number;
  /** When the address may receive requests again, in epoch milliseconds. */
  ejectedUntil: number;
  readonly requests: { succeeded: number; failed: number };
}

const isUsable = (member: Member, now: number) => member.probe !== 'failed' && now >= member.ejectedUntil;

/** After an ejection, the address receives only one request at a time until it has recovered. */
const isFree = ({ ejections, inFlight }: Member) => ejections === 0 || inFlight === 0;

/** Creates a pool of the addresses with these origins. No connection is opened before the first request. */
export function createAddressPool(
  origins: readonly string[],
  options: UpstreamOptions & { readonly connectionsTo: (origin: string) => Connections },
  clock: Clock,
  onChange: (change: AddressChange) => void = () => undefined,
): AddressPool {
  const members = origins.map((origin): Member => ({
    host: new URL(origin).host,
    connections: options.connectionsTo(origin),
    proxy: createProxy(origin, options),
    inFlight: 0,
    failures: 0,
    ejections: 0,
    ejectedUntil: 0,
    probe: undefined,
    requests: { succeeded: 0, failed: 0 },
  }));
  const { failures: limit, seconds, maxSeconds } = options.ejection;
  let turn = 0;

  const leastBusy = (candidates: readonly Member[]): Member | undefined => {
    const inTurn = [...candidates.slice(turn), ...candidates.slice(0, turn)];
    let best: Member | undefined;
    for (const member of inTurn) if (best === undefined || member.inFlight < best.inFlight) best = member;
    return best;
  };
  /**
   * Returns the address for a request, even when no address is usable, because only the circuit determines whether
   * requests are sent at all.
   */
  const choose = (avoided?: string): Member => {
    const now = clock();
    const usable = members.filter((member) => isUsable(member, now));
    const others = usable.filter(({ host }) => host !== avoided);
    const free = others.filter(isFree);
    const chosen = leastBusy(free) ?? leastBusy(others) ?? leastBusy(usable) ?? leastBusy(members);
    if (chosen === undefined) throw new Error('the pool has no address');
    turn = (turn + 1) % members.length;
    return chosen;
  };

  const readmit = (member: Member) => {
    member.failures = 0;
    if (member.ejections === 0) return;
    member.ejections = 0;
    member.ejectedUntil = 0;
    onChange({ address: member.host, ejectedSeconds: 0 });
  };
  const eject = (member: Member, now: number) => {
    // The last usable address is never ejected, because requests to it show when the upstream recovers.
    if (!members.some((other) => other !== member && isUsable(other, now))) return;
    const ejectedSeconds = Math.min(maxSeconds, seconds * 2 ** member.ejections);
    member.ejections += 1;
    member.ejectedUntil = now + ejectedSeconds * 1000;
    onChange({ address: member.host, ejectedSeconds });
  };
  /** Counts a request and returns a function to call when it ends. Only the first call has an effect. */
  const begin = (member: Member) => {
    member.inFlight += 1;
    let ended = false;
    return (outcome: Outcome) => {
      if (ended) return;
      ended = true;
      member.inFlight -= 1;
      if (outcome === 'neutral') return;
      member.requests[outcome] += 1;
      if (outcome === 'succeeded') return readmit(member);
      const now = clock();
      member.failures += 1;
      // Requests that were in progress when the address was ejected do not eject it again.
      if (now >= member.ejectedUntil && (member.failures >= limit || member.ejections > 0)) eject(member, now);
    };
  };

  const dispatch = (to: (member: Member) => Pick<Dispatcher, 'dispatch'>) => ({
    dispatch(request: WireRequest, handler: Dispatcher.DispatchHandler): boolean {
      // A retry is sent to a different address.
      const member = choose(request.sentTo);
      request.sentTo = member.host;
      return to(member).dispatch(request, observed(request, handler, begin(member)));
    },
  });
  const persistent = dispatch(({ connections }) => connections.persistent);
  const fresh = dispatch(({ connections }) => connections.fresh());

  return {
    connections: {
      persistent,
      fresh: () => fresh,
      open: () => members.reduce((sum, { connections }) => sum + connections.open(), 0),
      close: async () => void (await Promise.all(members.map(({ connections }) => connections.close()))),
      destroy: async () => void (await Promise.all(members.map(({ connections }) => connections.destroy()))),
    },
    proxy(request, events) {
      const member = choose();
      const end = begin(member);
      let outcome: Outcome = 'neutral';
      const abort = member.proxy(request, {
        ...events,
        onResponse(incoming) {
          outcome = outcomeOfStatus(incoming.statusCode ?? 0);
          incoming.once('close', () => end(outcome));
          events.onResponse(incoming);
        },
        onError(error) {
          // If reading the client's body failed, the address is not at fault.
          end('errored' in request.body && request.body.errored !== null ? 'neutral' : 'failed');
          events.onError(error);
        },
      });
      return () => {
        end(outcome);
        abort();
      };
    },
    addresses: members,
    probed(address, result) {
      const member = members.find((one) => one === address);
      if (member === undefined) return;
      member.probe = result;
      if (result === 'passed') readmit(member);
    },
    health: () =>
      members.map(({ host, inFlight, probe, requests, ejectedUntil }) => {
        const retrySeconds = Math.max(0, Math.ceil((ejectedUntil - clock()) / 1000));
        const state = retrySeconds > 0 ? 'ejected' : 'healthy';
        return { address: host, state, inFlight, retrySeconds, probe, requests: { ...requests } };
      }),
  };
}

/** How a request to an address ended. A `neutral` outcome says nothing about the state of the address. */
export type Outcome = 'succeeded' | 'failed' | 'neutral';

/** Returns how a response's status counts for the address that sent it. */
export const outcomeOfStatus = (status: number): Outcome => (status >= 500 ? 'failed' : 'succeeded');

/** For each kind of failure, whether the address is at fault. */
const OUTCOMES: Readonly<Record<UpstreamFailureKind, Outcome>> = {
  refused: 'failed',
  reset: 'failed',
  truncated: 'failed',
  deadline: 'failed',
  too_large: 'neutral',
  aborted: 'neutral',
  // The gateway refuses requests with these failures before an address is chosen.
  shed: 'neutral',
  circuit_open: 'neutral',
};

/** Returns how a request that received no usable response counts for the address. */
export const outcomeOfFailure = (error: unknown): Outcome =>
  error instanceof UpstreamFailure ? OUTCOMES[error.kind] : 'neutral';

/** Returns a handler that forwards every event and, once the request has ended, reports its outcome. */
function observed(
  request: WireRequest,
  handler: Dispatcher.DispatchHandler,
  end: (outcome: Outcome) => void,
): Dispatcher.DispatchHandler {
  let outcome: Outcome = 'succeeded';
  return {
    onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
    onResponseStarted: () => handler.onResponseStarted?.(),
    onResponseStart(controller, status, headers, reason) {
      outcome = outcomeOfStatus(status);
      handler.onResponseStart?.(controller, status, headers, reason);
    },
    onResponseData: (controller, part) => handler.onResponseData?.(controller, part),
    onResponseEnd(controller, trailers) {
      end(outcome);
      handler.onResponseEnd?.(controller, trailers);
    },
    onResponseError(controller, error) {
      const failure = sendingFailure(error, request, 'waiting');
      end(outcomeOfFailure(failure));
      handler.onResponseError?.(controller, error);
    },
  };
}
