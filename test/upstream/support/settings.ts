import { afterEach } from 'vitest';
import { systemClock, type Clock } from '../../../src/lib/clock.ts';
import { createUpstream, type Upstream } from '../../../src/upstream/create-upstream.ts';
import { UPSTREAM_DEFAULTS, type UpstreamOptions } from '../../../src/upstream/upstream-options.ts';

const upstreams = new Set<Upstream>();
afterEach(async () => {
  for (const upstream of upstreams) await upstream.close(0);
  upstreams.clear();
});

/** An upstream with defaults, closed after the test. */
export function upstreamAt(
  origin: string,
  options: Partial<UpstreamOptions> = {},
  more: { basePath?: string; clock?: Clock } = {},
) {
  const address = { origin, basePath: more.basePath ?? '' };
  const upstream = createUpstream(address, { ...UPSTREAM_DEFAULTS, ...options }, more.clock ?? systemClock);
  upstreams.add(upstream);
  return upstream;
}
