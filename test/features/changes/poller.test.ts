import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startFakeUpstream } from '../../builders/fake-upstream.ts';
import { startFleet } from '../../builders/fleet.ts';
import { needsProgram } from '../../builders/needs-program.ts';
import { PATIENT, startRedisServer } from '../../builders/redis-server.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import { cleanUpAfterTest } from '../../builders/clean-up.ts';
import { createFakeLists } from './fake-lists.ts';
import { openStream } from './open-stream.ts';

const EVENTS = '/services/v2/changes/events';

/** The time between two requests that 120 requests per minute allow. */
const GAP_MS = 500;

needsProgram('redis', 'the requests of a fleet', (path) => {
  it.each([1, 10, 200])(
    'are within the budget, and only those of the feed, with %d subscribers',
    async (subscribers) => {
      const redis = await startRedisServer(path);
      const lists = createFakeLists();
      const arrivals: number[] = [];
      const upstream = await startFakeUpstream((request, response) => {
        arrivals.push(performance.now());
        return lists.handler(request, response);
      });
      const folder = tempFolder();
      writeFileSync(join(folder, 'password'), 'moderator\n', { mode: 0o600 });
      const gateways = await startFleet(3, redis, upstream, {
        config: {
          redis: PATIENT,
          changes: {
            username: 'moderator',
            passwordFile: join(folder, 'password'),
            lists: ['listQuestions', 'listIdeas', 'listArticles'],
            everySeconds: 1,
            requestsPerMinute: 60_000 / GAP_MS,
            maxSubscribersPerCaller: 100,
          },
        },
      });
      for (const gateway of gateways) cleanUpAfterTest(() => gateway.close());
      await upstream.received(4);
      const streams = await Promise.all(
        Array.from({ length: subscribers }, (_, index) =>
          openStream(gateways[index % gateways.length]?.url ?? '', EVENTS, {
            user: index % 2 === 0 ? 'alice' : 'admin',
          }),
        ),
      );
      expect(new Set(streams.map(({ status }) => status))).toEqual(new Set([200]));
      const from = upstream.requests.length;
      lists.add('questions', 50);
      await Promise.all(streams.map((stream) => stream.received(1)));
      await upstream.received(from + 10);
      // Nothing but the feed has asked, in the name of its account, and no more often than it may.
      expect(new Set(upstream.requests.map(({ user }) => user))).toEqual(new Set(['moderator']));
      const span = (arrivals.at(-1) ?? 0) - (arrivals[0] ?? 0);
      // A request may be delayed on its way, but the right to send the next one is not earlier for that.
      expect(arrivals.length - 1).toBeLessThanOrEqual(span / GAP_MS + 1);
      expect(streams.map(({ messages }) => messages.length)).toEqual(streams.map(() => 1));
    },
  );
});
