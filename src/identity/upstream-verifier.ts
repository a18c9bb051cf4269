import type { Clock } from '../lib/clock.ts';
import { ProbeFailure, UpstreamFailure } from '../model/upstream-failure.ts';
import type { ProbeOptions } from './identity-options.ts';
import { keepCalibrated } from './keep-calibrated.ts';
import type { Verification, Verifier } from './verifier.ts';
import { createWorkGate } from './work-gate.ts';

/** Sends the probe with an `Authorization` value and gives the status; throws UpstreamFailure when there is none. */
export type Probe = (authorization: string, signal: AbortSignal) => Promise<{ readonly status: number }>;

/** What the upstream verifier is made of. */
export interface UpstreamVerifierParts {
  readonly probe: Probe;
  readonly options: ProbeOptions;
  readonly calibrationSeconds: number;
  readonly clock: Clock;
}

/** Seconds after which asking again may help, where the failure does not say. */
const RETRY_SECONDS = 5;

/** Verifies credentials by asking the upstream; believes nothing before a wrong credential was seen refused (rules, 2). */
export function createUpstreamVerifier(parts: UpstreamVerifierParts): Verifier {
  const { probe, options, calibrationSeconds, clock } = parts;
  const gate = createWorkGate(options);

  async function ask(authorization: string): Promise<Verification> {
    const signal = AbortSignal.timeout(options.timeoutMs);
    try {
      const { status } = await probe(authorization, signal);
      if (options.validStatuses.includes(status)) return { kind: 'valid' };
      // An upstream that fails or sheds load says nothing about the credential.
      if (status >= 500) return unavailable(new ProbeFailure(status));
      if (status === 408 || status === 429) return unavailable(`the probe answered ${status}`);
      return { kind: 'invalid' };
    } catch (error) {
      // It is the upstream that was too slow, whoever hung up.
      return unavailable(signal.aborted ? new UpstreamFailure('deadline', { cause: error }) : error);
    }
  }

  const calibration = keepCalibrated({ ask, probePath: options.path, calibrationSeconds, clock });
  return {
    kind: 'upstream',
    async verify({ authorization }, known, network) {
      const state = await calibration.current();
      if (state.kind === 'unusable') return { ...unavailable(state.fault.message), unusable: true };
      if (state.kind === 'pending') return unavailable(state.cause);
      return (await gate.run(() => ask(authorization), known, network)) ?? unavailable('too many probes wait');
    },
    calibrate: () => calibration.calibrate(),
  };
}

function unavailable(cause: unknown): Extract<Verification, { kind: 'unavailable' }> {
  const told = cause instanceof UpstreamFailure ? cause.retryAfterSeconds : undefined;
  return { kind: 'unavailable', retryAfterSeconds: told ?? RETRY_SECONDS, unusable: false, cause };
}
