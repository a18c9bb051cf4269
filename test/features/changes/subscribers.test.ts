import type { ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { TakenBy, TakenRequest } from '../../../src/engine/http/public-handler.ts';
import type { FeedEvent } from '../../../src/features/changes/event.ts';
import { createSubscribers } from '../../../src/features/changes/subscribers.ts';
import { cleanUpAfterTest } from '../../builders/clean-up.ts';
import { startFakeUpstream } from '../../builders/fake-upstream.ts';
import { until } from '../../builders/until.ts';
import { createFakeLists } from './fake-lists.ts';
import { configureFeed, readAgain, startFeed, within } from './feed-processes.ts';
import { openStream } from './open-stream.ts';

const EVENTS = '/services/v2/changes/events';
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
  const streams = await Promise.all(Array.from({ length: STREAMS }, () => openStream(feed.url, EVENTS)));
  for (const stream of streams) {
    expect(stream.status).toBe(200);
    stream.pause();
  }
  const reader = await openStream(feed.url, EVENTS);
  const before = await feed.memory();
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
  // Each keeps one batch. Without that limit, each would keep all events, about 5 MB.
  const kept = ((await feed.memory()) - before) / STREAMS;
  expect(kept).toBeLessThan(512 * 1024);
  expect(await feed.metrics()).toContain(`portico_changes_subscribers ${STREAMS + 1}`);
});

it('streams at the same place read what is new once', async () => {
  const { add, append, reads, subscribers } = createStreams();
  const streams = [add(), add(), add()];
  await until(() => reads.length === 1);
  append();
  subscribers.tell();
  await until(() => streams.every(({ received }) => received().includes('id: aa.1')));
  expect(reads.filter((after) => after === 0)).toHaveLength(2);
});

it('news that arrives while one stream reads is read by the others', async () => {
  const { add, append, hold, reads, subscribers } = createStreams();
  const first = add();
  await until(() => reads.length === 1);
  await turn();
  // The read of the second stream begins before the event is stored, and returns after it.
  const release = hold();
  const second = add();
  await until(() => reads.length === 2);
  append();
  subscribers.tell();
  release();
  await until(() => [first, second].every(({ received }) => received().includes('id: aa.1')));
});

/** Event streams of a store in memory. Nobody looks for events of which nobody has told. */
function createStreams() {
  const events: FeedEvent[] = [];
  const reads: number[] = [];
  let held: Promise<void> | undefined;
  const subscribers = createSubscribers({
    store: {
      async after(number) {
        const found = events.filter((event) => event.number > number);
        reads.push(number);
        await held;
        return found;
      },
      range: () => ({ removed: 0, latest: events.length, first: 1 }) as never,
    },
    lineage: () => 'aa',
    clock: () => 0,
    limits: {
      maxSubscribers: 10,
      maxSubscribersPerCaller: 10,
      heartbeatSeconds: 10,
      slowSeconds: 10,
      recheckSeconds: 10,
    },
    onEnd: () => undefined,
  });
  const caller = { countedAs: 'ada', mayUse: () => true } as unknown as TakenBy;
  return {
    subscribers,
    reads,
    append() {
      const target = { type: 'question', id: '1' };
      const number = events.length + 1;
      events.push({ number, at: 0, source: 'a', kind: 'question.created', target, title: undefined, data: '{}' });
    },
    /** Makes reads wait until the returned function is called. */
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return resolve;
    },
    add() {
      const response = new PassThrough();
      let text = '';
      response.on('data', (chunk: Buffer) => void (text += chunk.toString()));
      subscribers.add({
        request: { authenticate: async () => caller } as unknown as TakenRequest,
        response: response as unknown as ServerResponse,
        caller,
        wants: () => true,
        from: 0,
      });
      return { received: () => text };
    },
  };
}
