import type { Feature } from '../../engine/feature.ts';
import { createDriftWatch } from './watch-drift.ts';

const DRIFT = {
  name: 'portico_release_drift',
  type: 'gauge',
  labels: ['operation', 'drift', 'fingerprint'],
  help: '1 for each difference between the current release of the upstream and the one before it that is not accepted: field-gone, slower or error-share. The series with the label none is always 0.',
} as const;

/** Reports what a release of the upstream changed, compared with the one before it (docs/ledger.md#releases). */
export const releaseDrift = {
  name: 'releaseDrift',
  metrics: [DRIFT],
  dependsOn: ({ release }) => release,
  start({ settings: { release }, lasting, metrics, ...context }) {
    const watch = lasting(
      () => createDriftWatch(context),
      (one) => one.close(),
    );
    metrics.read(DRIFT, watch.series);
    return { use: () => watch.follow(release) };
  },
} as const satisfies Feature;
