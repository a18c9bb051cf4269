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

/** The state of the verifier tests, and a function that stops them. */
export interface Calibration {
  readonly state: CalibrationState;
  stop(): void;
}

interface CalibrationSettings extends IdentitySettings {
  placeOf(pointer: string): Pick<Fault, 'source' | 'pointer'>;
}

const RETRY_MS = 5000;

/**
 * Tests the credential verifier at startup and at intervals by sending an invalid credential to the upstream
 * (docs/rules.md §2). No tests are run if refusals do not depend on the caller's identity or if credentials are
 * verified against a file. A verifier that accepts any credential is a configuration error. If the upstream does not
 * respond, the gateway is not ready.
 */
export async function calibrate(
  settings: CalibrationSettings,
  { authenticator, logger }: { readonly authenticator: Pick<Authenticator, 'calibrate'>; readonly logger: Logger },
): Promise<Calibration> {
  if (!verifierOf(settings.authentication).asksUpstream)
    return { state: { kind: 'calibrated' }, stop: () => undefined };
  const needed = refusesByIdentity(settings);
  const state: CalibrationState = { kind: 'pending', needed };
  // No probe is sent, because the result would not affect any request.
  if (!needed) return { state, stop: () => undefined };
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
  const fault = await attempt();
  if (fault !== undefined) throw new StartFault([{ ...fault, ...settings.placeOf(fault.pointer) }]);
  let timer: NodeJS.Timeout;
  let stopped = false;
  const scheduleNext = () => {
    if (stopped) return;
    const wait = state.kind === 'pending' ? RETRY_MS : settings.authentication.calibrationSeconds * 1000;
    timer = setTimeout(() => void attempt().then(scheduleNext, scheduleNext), wait).unref();
  };
  scheduleNext();
  return {
    state,
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
