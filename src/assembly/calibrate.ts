import type { Settings } from '../config/settings.ts';
import { type Fault, StartFault } from '../model/fault.ts';
import type { Services } from './assemble-services.ts';
import { refusesByIdentity } from './features/create-authenticator.ts';

/** The state of the credential verifier, which the readiness check uses. */
interface CalibrationState {
  kind: 'pending' | 'calibrated' | 'unusable';
  /**
   * True if any operation refuses callers because of their identity. In that case, the gateway is not ready until the
   * verifier works.
   */
  readonly needed?: boolean;
}

/** The state of a verifier's tests, and the function that stops them. */
export interface Calibration {
  readonly state: CalibrationState;
  stop(): void;
}

const RETRY_MS = 5000;

/**
 * Tests the credential verifier at startup and at intervals by sending a wrong credential to the upstream (rules, 2).
 * Tests run only if refusals depend on the caller's identity. If the verifier accepts any credential, that is a
 * configuration error. If the upstream does not respond, the gateway is not ready.
 */
export async function calibrate(settings: Settings, { authenticator, logger }: Services): Promise<Calibration> {
  if (settings.authentication.verifier === 'file') return { state: { kind: 'calibrated' }, stop: () => undefined };
  const needed = refusesByIdentity(settings);
  const state: CalibrationState = { kind: 'pending', needed };
  // If nothing depends on the result, no probe is sent.
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

/**
 * Tests the verifier after a reload has read the configuration but before the verifier is used. The test runs only if
 * the reload replaces the verifier or changes whether it is needed. Throws a StartFault if the verifier is unusable or
 * the upstream does not respond, because the verifier in use may still work.
 */
export async function calibrateReload(
  settings: Settings,
  services: Services,
  before: { readonly settings: Settings; readonly services: Services },
): Promise<Calibration | undefined> {
  const isSame = services.authenticator === before.services.authenticator;
  if (isSame && refusesByIdentity(settings) === refusesByIdentity(before.settings)) return undefined;
  const calibration = await calibrate(settings, services);
  const { state, stop } = calibration;
  if (state.needed !== true || state.kind === 'calibrated') return calibration;
  stop();
  throw new StartFault([
    {
      ...settings.placeOf('/authentication/verifier'),
      message: 'credentials cannot be verified with this configuration: the upstream does not respond to the probe',
      suggestion: 'correct upstream.url and authentication.probe, or reload when the upstream responds',
    },
  ]);
}
