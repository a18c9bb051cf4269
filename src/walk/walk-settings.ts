import type { Settings } from '../config/settings.ts';
import { MODES } from '../model/checks.ts';
import { IN_MEMORY } from '../files/in-memory.ts';

/**
 * The settings of a gateway that a walk goes through: everything is judged and nothing refused, changed or kept, whatever
 * the configuration says, and the credential of the walk goes to the upstream.
 */
export function toWalkSettings(settings: Settings, timeoutMs: number | undefined): Settings {
  const mode = MODES.observe;
  return {
    ...settings,
    mode,
    checks: mode.checks,
    checksFor: () => mode.checks,
    errors: mode.errors,
    errorsFor: () => mode.errors,
    embedded: false,
    // Files of the gateway that serves: a walk changes none of them, and no promotion in them holds here.
    ladder: { ...settings.ladder, file: IN_MEMORY },
    learn: { traffic: false, file: IN_MEMORY },
    rewriteUrls: false,
    // Whoever asks is known to the upstream, not to the roles file; its demo accounts exist behind no real upstream.
    authentication: { ...settings.authentication, verifier: 'upstream' },
    upstream: {
      ...settings.upstream,
      credentials: { kind: 'forward' },
      ...(timeoutMs !== undefined && {
        connectTimeoutMs: Math.min(timeoutMs, settings.upstream.connectTimeoutMs),
        headersTimeoutMs: timeoutMs,
        bodyTimeoutMs: timeoutMs,
        totalTimeoutMs: timeoutMs,
      }),
    },
  };
}
