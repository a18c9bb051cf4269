import { randomBytes } from 'node:crypto';
import type { Clock } from '../lib/clock.ts';
import { UpstreamFailure } from '../model/upstream-failure.ts';
import { toAuthorization } from './basic-authorization.ts';
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

/** Verifies credentials by asking the upstream; believes nothing before a wrong credential was seen refused (rules, 2). */
export function createUpstreamVerifier(parts: UpstreamVerifierParts): Verifier {
  const { probe, options, clock } = parts;
  const gate = createWorkGate(options);
  let calibration: Calibration = { kind: 'pending', cause: 'never tried' };
  let calibratedAt = -Infinity;
  let calibrating: Promise<Calibration> | undefined;

  async function ask(authorization: string): Promise<Verification> {
    try {
      const { status } = await probe(authorization, AbortSignal.timeout(options.timeoutMs));
      if (options.validStatuses.includes(status)) return { kind: 'valid' };
      // An upstream that fails or sheds load says nothing about the credential.
      if (status >= 500 || status === 408 || status === 429) return unavailable(`probe answered ${status}`);
      return { kind: 'invalid' };
    } catch (error) {
      return unavailable(error);
    }
  }

  async function tryWrongCredential(): Promise<Calibration> {
    const wrong = toAuthorization(randomText(), randomText());
    const seen = await ask(wrong);
    if (seen.kind === 'valid') calibration = unusable(options.path);
    else if (seen.kind === 'invalid') calibration = { kind: 'calibrated' };
    // Without an answer what was learned before still holds.
    else if (calibration.kind === 'calibrated') return calibration;
    else if (calibration.kind === 'pending') calibration = { kind: 'pending', cause: causeOf(seen) };
    if (seen.kind === 'valid' || seen.kind === 'invalid') calibratedAt = clock();
    return calibration;
  }

  function calibrate(): Promise<Calibration> {
    calibrating ??= tryWrongCredential().finally(() => (calibrating = undefined));
    return calibrating;
  }

  function current(): Promise<Calibration> | Calibration {
    const due = calibration.kind === 'pending' || clock() - calibratedAt >= parts.calibrationSeconds * 1000;
    return due ? calibrate() : calibration;
  }

  return {
    kind: 'upstream',
    async verify(credential, known) {
      const state = await current();
      if (state.kind === 'unusable') return { ...unavailable(state.fault.message), unusable: true };
      if (state.kind === 'pending') return unavailable(state.cause);
      return (await gate.run(() => ask(credential.authorization), known)) ?? unavailable('too many probes wait');
    },
    calibrate,
  };
}

const randomText = () => randomBytes(18).toString('base64url');

const causeOf = (seen: Verification) => ('cause' in seen ? seen.cause : undefined);

function unavailable(cause: unknown): Extract<Verification, { kind: 'unavailable' }> {
  const told = cause instanceof UpstreamFailure ? cause.retryAfterSeconds : undefined;
  return { kind: 'unavailable', retryAfterSeconds: told ?? RETRY_SECONDS, unusable: false, cause };
}

function unusable(path: string): Calibration {
  const message = `the probe ${path} accepts a wrong credential, so it cannot tell who is asking`;
  const suggestion = 'a path that needs a valid credential, and the statuses it answers to one';
  return {
    kind: 'unusable',
    fault: { source: 'configuration', pointer: '/authentication/probe', message, suggestion },
  };
}
