import type { CircuitState } from '../../lib/circuit.ts';

/** The health of one of the upstream's addresses. */
export interface AddressHealth {
  /** The host and the port, without credentials or a path. */
  readonly address: string;
  /** `ejected` means that no requests are sent to this address until it recovers. */
  readonly state: 'healthy' | 'ejected';
  /** The number of requests in progress at this address. */
  readonly inFlight: number;
  /** The time, in seconds, until the address is tried again. 0 unless the address is ejected. */
  readonly retrySeconds: number;
  /** The result of the latest probes. Undefined if probes are not configured or none has finished yet. */
  readonly probe: 'passed' | 'failed' | undefined;
  /** The number of requests since startup, by outcome. */
  readonly requests: { readonly succeeded: number; readonly failed: number };
}

/** The health of the upstream. It is independent of the gateway's own readiness. */
export interface UpstreamHealth {
  /** `degraded` means that requests are sent, but only to some addresses or only as a trial. */
  readonly status: 'healthy' | 'degraded' | 'failing';
  /** The reasons for the status. Empty if the status is `healthy`. */
  readonly reasons: readonly string[];
  readonly addresses: readonly AddressHealth[];
}

/** The facts that determine the upstream's health. */
interface HealthFacts {
  readonly circuit: CircuitState;
  /** True in `observe` mode, where requests are sent even when the circuit is open. */
  readonly isObserved: boolean;
  readonly addresses: readonly AddressHealth[];
}

const isUnusable = ({ state, probe }: AddressHealth) => state === 'ejected' || probe === 'failed';

/** Returns the health of the upstream and the reasons for it. */
export function upstreamHealth({ circuit, isObserved, addresses }: HealthFacts): UpstreamHealth {
  const unusable = addresses.filter(isUnusable);
  const failing = [
    circuit === 'open' && (isObserved ? 'requests keep failing' : 'requests keep failing, so they are paused'),
    unusable.length === addresses.length && 'no address is healthy',
  ].filter((reason) => typeof reason === 'string');
  const degraded = [
    circuit === 'half-open' && 'requests kept failing, and the next one is a trial',
    ...unusable.map(({ address, state }) =>
      state === 'ejected' ? `${address} is ejected` : `the probe of ${address} fails`,
    ),
  ].filter((reason) => typeof reason === 'string');
  const reasons = [...failing, ...degraded];
  return { status: failing.length > 0 ? 'failing' : reasons.length > 0 ? 'degraded' : 'healthy', reasons, addresses };
}
