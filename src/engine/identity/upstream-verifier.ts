import type { Clock } from '../../lib/clock.ts';
import { ProbeFailure, UpstreamFailure } from '../model/upstream-failure.ts';
import { BASIC_SCHEME } from './basic-scheme.ts';
import type { Probe, ProbeOptions, Verification, Verifier, VerifierKind } from './verifier.ts';
import { createWorkGate } from './work-gate.ts';
import { createCalibration } from './calibration.ts';

interface UpstreamVerifierParts {
  readonly probe: Probe;
  readonly options: ProbeOptions;
  readonly calibrationSeconds: number;
  readonly clock: Clock;
}

/** The default retry delay, in seconds, for failures that do not specify one. */
const RETRY_SECONDS = 5;

const traits = { scheme: BASIC_SCHEME, asksUpstream: true } as const;

/** Lets the upstream verify credentials. */
export const upstreamVerifier: VerifierKind = {
  ...traits,
  readsPasswords: false,
  uses: ['probe', 'calibrationSeconds'],
  open: ({ probe = neverProbes, options: { probe: options, calibrationSeconds }, clock }) =>
    createUpstreamVerifier({ probe, options, calibrationSeconds, clock }),
  openTrusting: ({ probe }) => ({
    ...traits,
    // Where the gateway sends no probes, nobody is verified.
    verify: () => Promise.resolve(probe === undefined ? { ...unavailable(undefined), retryAfterSeconds: 0 } : VALID),
    calibrate: () => Promise.resolve({ kind: 'calibrated' }),
  }),
};

const VALID = { kind: 'valid' } as const;

const neverProbes = () => Promise.reject(new Error('observe sends no probes'));

/**
 * Creates a verifier that sends probes to the upstream. The verifier trusts no result until the upstream has refused an
 * invalid credential (docs/rules.md §2).
 */
export function createUpstreamVerifier(parts: UpstreamVerifierParts): Verifier {
  const { probe, options, calibrationSeconds, clock } = parts;
  const gate = createWorkGate(options);

  async function sendProbe(authorization: string): Promise<Verification> {
    const signal = AbortSignal.timeout(options.timeoutMs);
    try {
      const { status } = await probe(authorization, signal);
      if (options.validStatuses.includes(status)) return { kind: 'valid' };
      // If the upstream is failing or overloaded, its response does not show whether the credential is valid.
      if (status >= 500) return unavailable(new ProbeFailure(status));
      if (status === 408 || status === 429) return unavailable(`the probe returned status ${status}`);
      return { kind: 'invalid' };
    } catch (error) {
      // If the timeout has expired, the upstream was too slow, regardless of which error was thrown.
      return unavailable(signal.aborted ? new UpstreamFailure('deadline', { cause: error }) : error);
    }
  }

  const calibration = createCalibration({ sendProbe, probePath: options.path, calibrationSeconds, clock });
  return {
    ...traits,
    async verify({ authorization }, known, network) {
      const state = await calibration.current();
      if (state.kind === 'unusable') return { ...unavailable(state.fault.message), unusable: true };
      if (state.kind === 'pending') return unavailable(state.cause);
      return (
        (await gate.run(() => sendProbe(authorization), known, network)) ?? unavailable('too many probes are waiting')
      );
    },
    calibrate: () => calibration.calibrate(),
  };
}

function unavailable(cause: unknown): Extract<Verification, { kind: 'unavailable' }> {
  const retryAfterSeconds = cause instanceof UpstreamFailure ? cause.retryAfterSeconds : undefined;
  return { kind: 'unavailable', retryAfterSeconds: retryAfterSeconds ?? RETRY_SECONDS, unusable: false, cause };
}
