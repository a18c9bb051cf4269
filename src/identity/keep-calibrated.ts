import { randomBytes } from 'node:crypto';
import type { Clock } from '../lib/clock.ts';
import { toAuthorization } from './basic-credential.ts';
import type { Calibration, Verification } from './verifier.ts';

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
