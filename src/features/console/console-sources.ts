import type { FeatureContext } from '../../engine/feature.ts';
import type { PageFailed } from '../../engine/http/operator-page.ts';
import type { TrafficHistory } from './traffic-history.ts';

/** What the console shows and controls. */
export interface ConsoleSources extends Pick<
  FeatureContext<unknown>,
  'clock' | 'settings' | 'contract' | 'operations' | 'records' | 'gateway' | 'pages' | 'sharing'
> {
  readonly traffic: TrafficHistory;
  /** Logs an error that a response does not describe. */
  readonly failed: PageFailed;
}
