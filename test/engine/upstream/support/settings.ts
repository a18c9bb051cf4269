import { cleanUpAfterTest } from '../../../builders/clean-up.ts';
import { systemClock, type Clock } from '../../../../src/lib/clock.ts';
import { createUpstream } from '../../../../src/engine/upstream/create-upstream.ts';
import { UPSTREAM_DEFAULTS, type UpstreamOptions } from '../../../../src/engine/upstream/upstream-options.ts';

/** Creates an upstream with default settings and closes it after the test. */
export function upstreamAt(
  origin: string,
  options: Partial<UpstreamOptions> = {},
  more: { basePath?: string; clock?: Clock } = {},
) {
  const address = { origin, basePath: more.basePath ?? '' };
  const upstream = createUpstream(address, { ...UPSTREAM_DEFAULTS, ...options }, more.clock ?? systemClock);
  cleanUpAfterTest(() => upstream.close(0));
  return upstream;
}
