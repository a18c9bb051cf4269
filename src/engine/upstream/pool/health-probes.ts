import type { ProbedAddress } from './address-pool.ts';
import { UpstreamFailure } from '../../model/upstream-failure.ts';
import { createStop, sendBuffered } from '../sending.ts';
import type { UpstreamOptions } from '../upstream-options.ts';

/** Periodic requests that test whether the upstream's addresses respond. */
interface HealthProbes {
  /** Starts or stops the probes. Repeated calls have no effect. */
  run(isOn: boolean): void;
  /** Sends one probe to every address and waits for the results. */
  round(): Promise<void>;
}

const MAX_BYTES = 1024 * 1024;

/**
 * Creates the probes. An address is healthy if it responds with a status below 500. This includes responses that refuse
 * the probe, because it is sent without a credential. `onChange` is called when enough consecutive probes contradict
 * the known result.
 */
export function createHealthProbes(
  { intervalSeconds, timeoutMs, unhealthyAfter, healthyAfter }: UpstreamOptions['probe'],
  path: string,
  addresses: readonly ProbedAddress[],
  onChange: (address: ProbedAddress, result: 'passed' | 'failed') => void,
): HealthProbes {
  let timer: NodeJS.Timeout | undefined;
  /** For each address, the number of consecutive probes whose result differs from the known result. */
  const differing = new Map<ProbedAddress, number>();

  const succeeds = async ({ connections }: ProbedAddress): Promise<boolean> => {
    const stop = createStop();
    const limit = setTimeout(() => stop.stop(new UpstreamFailure('deadline')), timeoutMs);
    const headers = ['Accept', 'application/json', 'User-Agent', 'portico-health-probe'];
    const request = { method: 'GET', path, headers, body: null, reset: true };
    try {
      const bounds = { stop, limit: MAX_BYTES };
      const { status } = await sendBuffered(connections.fresh(), request, bounds, { responseStarted: false });
      return status < 500;
    } catch (error) {
      return error instanceof UpstreamFailure && error.kind === 'too_large';
    } finally {
      clearTimeout(limit);
    }
  };
  const probe = async (address: ProbedAddress) => {
    const result = (await succeeds(address)) ? 'passed' : 'failed';
    const count = result === address.probe ? 0 : (differing.get(address) ?? 0) + 1;
    const needed = result === 'failed' ? unhealthyAfter : address.probe === undefined ? 1 : healthyAfter;
    differing.set(address, count < needed ? count : 0);
    if (count >= needed) onChange(address, result);
  };
  const round = async () => void (await Promise.all(addresses.map(probe)));

  return {
    run(isOn) {
      if (isOn === (timer !== undefined)) return;
      clearInterval(timer);
      timer = isOn ? setInterval(() => void round(), intervalSeconds * 1000).unref() : undefined;
      if (isOn) void round();
    },
    round,
  };
}
