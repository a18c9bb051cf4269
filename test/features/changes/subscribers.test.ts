import { expect, it } from 'vitest';
import { cleanUpAfterTest } from '../../builders/clean-up.ts';
import { startFakeUpstream } from '../../builders/fake-upstream.ts';
import { createFakeLists } from './fake-lists.ts';
import { configureFeed, readAgain, startFeed, within } from './feed-processes.ts';
import { openStream } from './open-stream.ts';

const EVENTS = '/services/v2/changes/events';
const MIB = 1_048_576;
const STREAMS = 200;

it('streams whose clients read nothing keep a bounded amount of memory, and do not delay the others', async () => {
  const lists = createFakeLists();
  const upstream = await startFakeUpstream(lists.handler);
  const { folder } = await configureFeed({
    lists: ['listQuestions'],
    pageSize: 50,
    maxSubscribers: 1_000,
    maxSubscribersPerCaller: 1_000,
    slowSeconds: 600,
  });
  const feed = await startFeed(folder, upstream.url);
  cleanUpAfterTest(() => feed.kill());
  await readAgain(() => [feed], ['listQuestions']);
  const memory = async () => Number(/^process_resident_memory_bytes (\S+)$/m.exec(await feed.metrics())?.[1]);
  const streams = await Promise.all(Array.from({ length: STREAMS }, () => openStream(feed.url, EVENTS)));
  for (const stream of streams) {
    expect(stream.status).toBe(200);
    stream.pause();
  }
  const reader = await openStream(feed.url, EVENTS);
  const before = await memory();
  const body = 'x'.repeat(15_000);
  let events = 0;
  for (let round = 0; round < 8; round += 1) {
    for (let count = 0; count < 40; count += 1)
      lists.add('questions', 1_000 + (events += 1), { body, bodyAsHTML: body });
    await within(
      'the client that reads to receive everything',
      () => reader.messages.length >= events,
      () => ({ received: reader.messages.length, events }),
    );
  }
  // Without a limit, each of them would keep all events, 9 MiB. Some of what is measured is garbage.
  expect(((await memory()) - before) / STREAMS).toBeLessThan(4 * MIB);
  expect(await feed.metrics()).toContain(`portico_changes_subscribers ${STREAMS + 1}`);
});
