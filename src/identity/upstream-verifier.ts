import { randomBytes } from 'node:crypto';
import type { Clock } from '../lib/clock.ts';
import { ProbeFailure, UpstreamFailure } from '../model/upstream-failure.ts';
import { toAuthorization } from './basic-credential.ts';
import type { ProbeOptions } from './identity-options.ts';
import type { Calibration, Verification, Verifier } from './verifier.ts';
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

/**
 * Verifies credentials by asking the upstream; believes nothing before a wrong credential was seen refused (rules, 2).
 */
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

/** The state of a calibration that is renewed when it is due. */
export interface KeptCalibration {
  /** The state that holds, found out anew where it is due or still pending. */
  current(): Promise<Calibration>;
  /** Finds the state out now; callers at one time share one try. */
  calibrate(): Promise<Calibration>;
}

/** What a kept calibration is made of. */
export interface KeptCalibrationParts {
  readonly ask: (authorization: string) => Promise<Verification>;
  readonly probePath: string;
  readonly calibrationSeconds: number;
  readonly clock: Clock;
}

/** Tries random wrong credentials: a probe that takes one of them for valid tells nothing (rules, 2). */
export function keepCalibrated(parts: KeptCalibrationParts): KeptCalibration {
  const { ask, clock } = parts;
  let state: Calibration = { kind: 'pending', cause: 'never tried' };
  let dueAt = -Infinity;
  let trying: Promise<Calibration> | undefined;

  async function tryWrongCredential(): Promise<Calibration> {
    // A random name too, or a real account could be locked by our failures.
    const seen = await ask(toAuthorization(randomText(), randomText()));
    const answered = seen.kind === 'valid' || seen.kind === 'invalid';
    if (answered) {
      dueAt = clock() + parts.calibrationSeconds * 1000;
      state = seen.kind === 'valid' ? unusable(parts.probePath) : { kind: 'calibrated' };
    } else if (state.kind === 'pending') {
      state = { kind: 'pending', cause: seen.kind === 'unavailable' ? seen.cause : seen.kind };
    }
    // Without an answer, what was learned before still holds and stays due.
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
  const message = `the probe ${path} accepts a wrong credential, so it cannot tell who is asking`;
  const suggestion = 'a path that needs a valid credential, and the statuses it answers to one';
  return {
    kind: 'unusable',
    fault: { source: 'configuration', pointer: '/authentication/probe', message, suggestion },
  };
}
