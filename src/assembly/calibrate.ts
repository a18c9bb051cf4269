import type { Settings } from '../config/settings.ts';
import { type Fault, StartFault } from '../model/fault.ts';
import type { Services } from './assemble-services.ts';
import { refusesByIdentity } from './create-authenticator.ts';

/** Where the verifier stands, as readiness reads it. */
export interface CalibrationState {
  kind: 'pending' | 'calibrated' | 'unusable';
  /** True when some operation refuses callers by who they are, so that nobody could be let in without a verifier. */
  needed?: boolean;
}

const RETRY_MS = 5000;

/**
 * Tries the verifier with a wrong credential at start and from time to time (rules, 2), where refusals
 * depend on who is asking. A verifier that accepts anything is a fault; an upstream that does not respond leaves the gateway
 * not ready. Returns a function that stops the attempts.
 */
export async function calibrate(
  settings: Settings,
  { authenticator, logger }: Services,
  state: CalibrationState,
): Promise<() => void> {
  if (settings.authentication.verifier === 'file') {
    state.kind = 'calibrated';
    return () => undefined;
  }
  state.needed = refusesByIdentity(settings);
  let tried = false;
  const attempt = async (): Promise<Fault | undefined> => {
    const { kind, ...found } = await authenticator.calibrate();
    if (kind !== state.kind || !tried) {
      const told = { calibration: kind };
      if (kind === 'calibrated') logger.info(told, 'the credential probe tells right from wrong');
      else logger.warn(told, 'credentials cannot be verified: not ready until the upstream answers the probe');
    }
    tried = true;
    state.kind = kind;
    return 'fault' in found ? found.fault : undefined;
  };
  // Nothing is asked of the upstream on behalf of nobody where its verdict would change nothing.
  if (!state.needed) return () => undefined;
  const fault = await attempt();
  if (fault !== undefined) throw new StartFault([{ ...fault, ...settings.placeOf(fault.pointer) }]);
  let timer: NodeJS.Timeout;
  let stopped = false;
  const again = () => {
    if (stopped) return;
    const wait = state.kind === 'pending' ? RETRY_MS : settings.authentication.calibrationSeconds * 1000;
    timer = setTimeout(() => void attempt().then(again, again), wait).unref();
  };
  again();
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}
