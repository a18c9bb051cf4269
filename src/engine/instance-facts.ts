import { createHash } from 'node:crypto';
import type { Clock } from '../lib/clock.ts';
import { packageVersion } from '../lib/package-root.ts';
import type { Settings } from './config/settings.ts';
import { configurationDigest, type Start } from './load-start.ts';
import type { Service } from './model/service.ts';
import type { GatewayControls } from './running-gateway.ts';
import type { InstanceFacts, Sharing } from './sharing/sharing.ts';

/** What the reports use. */
export interface PresenceNeeds {
  readonly clock: Clock;
  readonly instance: string;
  readonly sharing: Sharing;
  readonly controls: GatewayControls;
  current(): { readonly settings: Settings; readonly start: Start } | undefined;
}

/** Reports this gateway to the others. */
export const presence: Service<{ report(): void }, PresenceNeeds> = {
  start({ clock, instance, sharing: { instances }, controls: { readiness }, current }) {
    const startedAt = clock();
    const facts = () => {
      const inUse = current();
      if (inUse === undefined) throw new Error('the gateway is not assembled yet');
      return { ...factsOf(inUse), name: instance, startedAt, ready: readiness().ready };
    };
    return { report: () => instances.start(facts) };
  },
  open: ({ report }) => report(),
};

function factsOf({
  settings,
  start,
}: {
  readonly settings: Settings;
  readonly start: Start;
}): Omit<InstanceFacts, 'name' | 'startedAt' | 'ready'> {
  const { contract, baseline } = start;
  const accepted = baseline === undefined ? 'none' : JSON.stringify(baseline.read().accepted);
  return {
    version: packageVersion(),
    release: settings.release,
    mode: settings.mode.name,
    contract: contract.version,
    configuration: configurationDigest(settings, start),
    // The baseline can be changed in the console at any time, so the digest is computed for each report.
    baseline: createHash('sha256').update(accepted).digest('hex').slice(0, 12),
  };
}
