import type { FakeUpstream } from './fake-upstream.ts';
import type { RedisServer } from './redis-server.ts';
import { startTestGateway, type TestGateway, type TestGatewayOptions } from './test-gateway.ts';
import { until } from './until.ts';

/** Starts several gateways that share their state, and waits until each has read the change log. */
export async function startFleet(
  count: number,
  { url }: Pick<RedisServer, 'url'>,
  upstream: FakeUpstream,
  { config, ...more }: Omit<TestGatewayOptions, 'upstream'> = {},
): Promise<TestGateway[]> {
  const redis = { url, ...(config?.['redis'] as object | undefined) };
  const start = () => startTestGateway({ upstream, ...more, config: { ...config, redis } });
  const gateways = await Promise.all(Array.from({ length: count }, start));
  await until(() => gateways.every((one) => sharedBy(one).changes.position() !== undefined));
  return gateways;
}

/** Returns what a gateway shares with the others, through Redis. */
export function sharedBy({ gateway }: TestGateway) {
  const { sharing, changeFollower: follower, sharedPages: pages } = gateway.services;
  const { redis } = sharing;
  if (redis === undefined) throw new Error('the gateway shares nothing');
  return { ...sharing, follower, pages, redis };
}

/** Resolves when one gateway has applied every change that another has applied. */
export function caughtUp(behind: TestGateway, ahead: TestGateway): Promise<void> {
  return until(() => {
    const [own, other] = [behind, ahead].map((gateway) => sharedBy(gateway).changes.position());
    // After Redis loses its data, the numbers start over in a new lineage.
    return own?.lineage === other?.lineage && (own?.number ?? 0) >= (other?.number ?? 0);
  });
}
