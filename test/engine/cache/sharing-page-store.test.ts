import { pino } from 'pino';
import { beforeAll, describe, expect } from 'vitest';
import { createSharingPageStore } from '../../../src/engine/cache/sharing-page-store.ts';
import { openAlone } from '../../../src/engine/sharing/alone/open-alone.ts';
import { shareThrough } from '../../../src/engine/sharing/redis/open-redis.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { cleanUpAfterTest } from '../../builders/clean-up.ts';
import { needsProgram } from '../../builders/needs-program.ts';
import { connectTo, type RedisServer, startRedisServer } from '../../builders/redis-server.ts';
import { createTestClock } from '../../builders/test-clock.ts';
import { eventually, until } from '../../builders/until.ts';
import { pageStoreContract } from '../../interfaces/page-store.contract.ts';

describe('the page store of a gateway alone', () => {
  pageStoreContract(async () => {
    const clock = createTestClock();
    const store = createSharingPageStore(openAlone(clock));
    return {
      here: store,
      there: store,
      async passes(ms, condition) {
        clock.advance(ms / 1000);
        expect(await condition()).toBe(true);
      },
    };
  });
});

needsProgram('redis', 'the page store that gateways share', (path) => {
  let server: RedisServer;
  let prefixes = 0;
  beforeAll(async () => {
    server = await startRedisServer(path);
  });
  pageStoreContract(async () => {
    const prefix = `store${(prefixes += 1)}`;
    const open = async () => {
      const redis = connectTo(server.url, { prefix });
      const logger = pino({ enabled: false });
      const parts = { options: { maxChanges: 100 }, sealKeys: [], clock: systemClock, logger };
      const sharing = shareThrough(redis, parts);
      cleanUpAfterTest(() => sharing.close());
      await until(() => redis.isAvailable());
      return createSharingPageStore(sharing);
    };
    return { here: await open(), there: await open(), passes: (_ms, condition) => eventually(condition) };
  });
});
