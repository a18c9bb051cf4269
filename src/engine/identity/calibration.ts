import { randomBytes } from 'node:crypto';
import type { Clock } from '../../lib/clock.ts';
import { toAuthorization } from '../../lib/basic-credentials.ts';
import type { Calibration, Verification } from './verifier.ts';

/**
 * A calibration repeated at intervals. Calibrating means checking that the upstream refuses a probe with an invalid
 * credential.
 */
interface RenewedCalibration {
  /** Returns the current state. If a calibration is due or the state is still pending, calibrates first. */
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
 * Creates a calibration that sends random, invalid credentials. If one of them is accepted, the probe's results prove
 * nothing (docs/rules.md §2).
 */
export function createCalibration(parts: RenewedCalibrationParts): RenewedCalibration {
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
