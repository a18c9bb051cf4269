import type { Logger } from 'pino';
import { type Fault, StartFault } from '../model/fault.ts';
import type { Authenticator } from './create-authenticator.ts';
import { type IdentitySettings, refusesByIdentity } from './open-authenticator.ts';
import { verifierOf } from './verifiers.ts';

/** The state of the credential verifier, as read by the readiness check. */
interface CalibrationState {
  kind: 'pending' | 'calibrated' | 'unusable';
  /**
   * True if at least one operation can refuse callers based on their identity. If so, the gateway is not ready until
   * the verifier works.
   */
  readonly needed?: boolean;
}

/** The tests of the verifier. */
export interface VerifierTests {
  readonly state: CalibrationState;
  /** Tests the verifier once, and from then on at intervals. Rejects with a `StartFault` if it cannot be used. */
  begin(): Promise<void>;
  stop(): void;
}

interface CalibrationSettings extends IdentitySettings {
  placeOf(pointer: string): Pick<Fault, 'source' | 'pointer'>;
}

interface CalibrationParts {
  readonly authenticator: Pick<Authenticator, 'calibrate'>;
  readonly logger: Logger;
  /**
   * True during a reload: if the upstream does not respond, the previous verifier stays in use. At startup, the gateway
   * is only not ready.
   */
  readonly mustRespond?: boolean;
}

const nothing = () => undefined;

const RETRY_MS = 5000;

/**
 * Creates the tests of the credential verifier, which send an invalid credential to the upstream (docs/rules.md §2). No
 * tests are run if refusals do not depend on the caller's identity or if credentials are verified against a file. A
 * verifier that accepts any credential is a configuration error. If the upstream does not respond, the gateway is not
 * ready.
 */
export function createVerifierTests(
  settings: CalibrationSettings,
  { authenticator, logger, mustRespond = false }: CalibrationParts,
): VerifierTests {
  if (!verifierOf(settings.authentication).asksUpstream)
    return { state: { kind: 'calibrated' }, begin: () => Promise.resolve(), stop: nothing };
  const needed = refusesByIdentity(settings);
  const state: CalibrationState = { kind: 'pending', needed };
  // No probe is sent, because the result would not affect any request.
  if (!needed) return { state, begin: () => Promise.resolve(), stop: nothing };
  const {
    authentication: { calibrationSeconds },
    placeOf,
  } = settings;
  let tried = false;
  const attempt = async (): Promise<Fault | undefined> => {
    const { kind, ...found } = await authenticator.calibrate();
    if (kind !== state.kind || !tried) {
      const fields = { calibration: kind };
      if (kind === 'calibrated')
        logger.info(fields, 'the credential probe distinguishes valid from invalid credentials');
      else logger.warn(fields, 'credentials cannot be verified: not ready until the upstream responds to the probe');
    }
    tried = true;
    state.kind = kind;
    return 'fault' in found ? found.fault : undefined;
  };
  let timer: NodeJS.Timeout;
  let stopped = false;
  const scheduleNext = () => {
    if (stopped) return;
    const wait = state.kind === 'pending' ? RETRY_MS : calibrationSeconds * 1000;
    timer = setTimeout(() => void attempt().then(scheduleNext, scheduleNext), wait).unref();
  };
  return {
    state,
    async begin() {
      const fault = await attempt();
      if (fault !== undefined) throw new StartFault([{ ...fault, ...placeOf(fault.pointer) }]);
      if (mustRespond && state.kind === 'pending')
        throw new StartFault([{ ...placeOf('/authentication/verifier'), ...NO_RESPONSE }]);
      scheduleNext();
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

const NO_RESPONSE = {
  message: 'credentials cannot be verified with this configuration: the upstream does not respond to the probe',
  suggestion: 'correct upstream.url and authentication.probe, or reload when the upstream responds',
};
