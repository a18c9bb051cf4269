import { randomBytes } from 'node:crypto';
import type { Clock } from '../lib/clock.ts';
import { ProbeFailure, UpstreamFailure } from '../model/upstream-failure.ts';
import { toAuthorization } from '../lib/basic-credentials.ts';
import type { ProbeOptions } from './identity-options.ts';
import type { Calibration, Verification, Verifier } from './verifier.ts';
import { createWorkGate } from './limits.ts';

/**
 * Sends the probe with an `Authorization` value and returns the status of the response. Throws an `UpstreamFailure` if
 * there is no response.
 */
type Probe = (authorization: string, signal: AbortSignal) => Promise<{ readonly status: number }>;

interface UpstreamVerifierParts {
  readonly probe: Probe;
  readonly options: ProbeOptions;
  readonly calibrationSeconds: number;
  readonly clock: Clock;
}

/** The default retry delay, in seconds, for failures that do not specify one. */
const RETRY_SECONDS = 5;

/**
 * Creates a verifier that sends probes to the upstream. The verifier does not trust any result before the upstream has
 * refused an invalid credential (rules, 2).
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
    kind: 'upstream',
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

/**
 * A calibration that is repeated at intervals. Calibrating means checking that the upstream refuses a probe with an
 * invalid credential.
 */
interface RenewedCalibration {
  /** Returns the current state. If a calibration is due, or if the state is still pending, calibrates first. */
  current(): Promise<Calibration>;
  /** Calibrates immediately. Concurrent callers share one attempt. */
  calibrate(): Promise<Calibration>;
}

interface RenewedCalibrationParts {
  readonly sendProbe: (authorization: string) => Promise<Verification>;
  readonly probePath: string;
  readonly calibrationSeconds: number;
  readonly clock: Clock;
}

/**
 * Creates a calibration that sends random, invalid credentials. If the probe accepts one of them, its results prove
 * nothing (rules, 2).
 */
function createCalibration(parts: RenewedCalibrationParts): RenewedCalibration {
  const { sendProbe, clock } = parts;
  let state: Calibration = { kind: 'pending', cause: 'not yet calibrated' };
  let dueAt = -Infinity;
  let trying: Promise<Calibration> | undefined;

  async function tryWrongCredential(): Promise<Calibration> {
    // The name is also random, because failed attempts with a real name could lock the account.
    const verification = await sendProbe(toAuthorization(randomText(), randomText()));
    const decided = verification.kind === 'valid' || verification.kind === 'invalid';
    if (decided) {
      dueAt = clock() + parts.calibrationSeconds * 1000;
      state = verification.kind === 'valid' ? unusable(parts.probePath) : { kind: 'calibrated' };
    } else if (state.kind === 'pending') {
      state = { kind: 'pending', cause: verification.kind === 'unavailable' ? verification.cause : verification.kind };
    }
    // If there was no response, the previous state remains in effect and another calibration is due.
    return state;
  }

  function calibrate(): Promise<Calibration> {
    trying ??= tryWrongCredential().finally(() => (trying = undefined));
    return trying;
  }

  return { calibrate, current: () => (clock() >= dueAt ? calibrate() : Promise.resolve(state)) };
}

const randomText = () => randomBytes(18).toString('base64url');

function unusable(path: string): Calibration {
  const message = `the probe ${path} accepts a wrong credential, so it cannot verify callers`;
  const suggestion = 'use a path that requires a valid credential, and the statuses that it returns for one';
  return {
    kind: 'unusable',
    fault: { source: 'configuration', pointer: '/authentication/probe', message, suggestion },
  };
}
