import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { cleanUpAfterTest } from '../../builders/clean-up.ts';
import { closeServer } from '../../builders/close-server.ts';
import { needsProgram } from '../../builders/needs-program.ts';
import { PATIENT, startRedisServer } from '../../builders/redis-server.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import { eventually, until } from '../../builders/until.ts';
import { configureFeed, type FeedProcess, readAgain, readingsOf, startFeed, within } from './feed-processes.ts';
import { expectAll, missingActions, startHour } from './hour.ts';
import { openStream, type StreamMessage } from './open-stream.ts';

const EVENTS = '/services/v2/changes/events';
const LISTS = ['listQuestions', 'listIdeas', 'listArticles', 'listActions'];

/** A subscriber that reads from whichever gateway runs, and continues after its last event when it is cut off. */
class Subscriber {
  readonly messages: StreamMessage[] = [];
  /** The statuses of the responses to its requests. */
  readonly statuses: number[] = [];
  #isClosed = false;
  #lastId: string | undefined;
  readonly #running: Promise<void>;

  constructor(urlOf: () => string | undefined) {
    this.#running = this.#run(urlOf);
    cleanUpAfterTest(async () => {
      this.#isClosed = true;
      await this.#running;
    });
  }

  /** True once it knows where the events begin that it will receive. */
  get hasBegun(): boolean {
    return this.#lastId !== undefined;
  }

  async #run(urlOf: () => string | undefined): Promise<void> {
    while (!this.#isClosed) {
      const headers: Record<string, string> = this.#lastId === undefined ? {} : { 'Last-Event-ID': this.#lastId };
      await eventually(() => this.#isClosed || urlOf() !== undefined);
      const stream = await openStream(urlOf() ?? '', EVENTS, { headers }).catch(() => undefined);
      if (stream !== undefined) this.statuses.push(stream.status);
      let taken = 0;
      await until(() => {
        if (stream === undefined) return true;
        for (; taken < stream.messages.length; taken += 1) this.messages.push(stream.messages[taken] as StreamMessage);
        this.#lastId = stream.lastId() ?? this.#lastId;
        return stream.isEnded() || this.#isClosed;
      });
      stream?.close();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

/** Starts a receiver of the messages of webhooks. `respond` gets the number of the message, from 1. */
async function startReceiver(respond: (count: number, response: ServerResponse, request: IncomingMessage) => void) {
  const received: { readonly id: string; readonly path: string | undefined }[] = [];
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      received.push({ id: String(request.headers['webhook-id']), path: request.url });
      respond(received.length, response, request);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUpAfterTest(() => closeServer(server));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, received };
}

/** The messages without those that repeat one, which a crash and a failed attempt cause. */
const distinct = (received: readonly { readonly id: string }[]) => [...new Set(received.map(({ id }) => id))];

/** The number of writes of the hour, after each of which may come: a wait for the feed, or something worse. */
const WRITES = 600;
const PAUSE = 50;
const KILLS: ReadonlySet<number> = new Set([40, 41, 260, 555]);
const RESTARTS: ReadonlySet<number> = new Set([130, 380]);
const RELOADS: ReadonlySet<number> = new Set([191, 440]);

async function surviveHour(seed: number, size: number, more: object): Promise<void> {
  const hour = await startHour(seed);
  const alive = await startReceiver((count, response) =>
    count % 40 === 0 ? response.writeHead(503, { 'Retry-After': '1' }).end() : response.writeHead(204).end(),
  );
  const failing = await startReceiver((_, response) => response.writeHead(500).end());
  const gone = await startReceiver((_, response) => response.writeHead(410).end());
  const moved = await startReceiver((_, response) => response.writeHead(307, { Location: `${alive.url}other` }).end());
  const silent = await startReceiver(() => undefined);
  const secrets = join(tempFolder(), 'secrets');
  mkdirSync(secrets);
  writeFileSync(join(secrets, 'alive.key'), `whsec_${Buffer.alloc(32).toString('base64')}\n`, { mode: 0o600 });
  const toChat = { account: 'admin', format: 'slack', kinds: ['question.created'] };
  const { folder, replace } = await configureFeed(
    {
      secrets,
      allowPrivate: ['127.0.0.0/8'],
      webhooks: [
        { name: 'alive', url: alive.url, account: 'admin', kinds: ['question.created', 'question.answered'] },
        { name: 'failing', url: failing.url, ...toChat },
        { name: 'gone', url: gone.url, ...toChat },
        { name: 'moved', url: moved.url, ...toChat },
        { name: 'silent', url: silent.url, ...toChat },
        { name: 'dead', url: 'http://127.0.0.1:9/', ...toChat },
      ],
    },
    more,
  );
  const running = new Set<FeedProcess>();
  const start = async () => {
    const feed = await startFeed(folder, hour.reference.url);
    running.add(feed);
    // A client that reads nothing must not matter to the others.
    (await openStream(feed.url, EVENTS)).pause();
  };
  const workers = async () => {
    const isWorking = async (one: FeedProcess) => /^portico_changes_working 1$/m.test(await one.metrics());
    return (await Promise.all([...running].map(async (one) => ((await isWorking(one)) ? [one] : [])))).flat();
  };
  const metricsNow = async () => Object.fromEntries(await readingsOf(running));
  const end = async (how: (one: FeedProcess) => Promise<void>) => {
    let [worker] = await workers();
    await within('a gateway that works', async () => ([worker] = await workers()).length === 1, metricsNow);
    if (worker === undefined) return;
    running.delete(worker);
    await how(worker);
    for (let count = 0; count < 5; count += 1) hour.write();
    await start();
  };
  for (let count = 0; count < size; count += 1) await start();
  const subscribers = [0, 1].map(
    (index) => new Subscriber(() => [...running].at(-1 - index)?.url ?? [...running].at(-1)?.url),
  );
  await within(
    'the subscribers to begin',
    () => subscribers.every(({ hasBegun }) => hasBegun),
    () => subscribers.map(({ statuses }) => statuses),
  );
  // A webhook gets what happens after the gateway has first looked at it, which it does before the second reading.
  await readAgain(() => running, LISTS);
  await within(
    'the webhooks to be known',
    async () =>
      (await Promise.all([...running].map((one) => one.metrics()))).some((text) =>
        /^portico_changes_backlog\{webhook="alive"\} 0$/m.test(text),
      ),
    metricsNow,
  );
  for (let count = 1; count <= WRITES; count += 1) {
    hour.write();
    if (KILLS.has(count)) await end((one) => one.kill());
    if (RESTARTS.has(count)) await end((one) => one.close());
    if (RELOADS.has(count)) {
      // Other options of the feed make it start again.
      replace({ pageSize: count % 2 === 0 ? 20 : 30 });
      for (const one of running) await one.reload();
    }
    if (count % PAUSE === 0) await readAgain(() => running, LISTS);
  }
  await readAgain(() => running, LISTS);
  for (const { messages, statuses } of subscribers) {
    await within(
      'all actions to be told',
      () => missingActions(messages, hour).length === 0,
      async () => ({ missing: missingActions(messages, hour), statuses, readings: await metricsNow() }),
    );
  }
  await readAgain(() => running, LISTS);
  const [first] = subscribers;
  for (const { messages } of subscribers) expectAll(messages, hour);
  const told = (first?.messages ?? []).filter(({ event }) => /^question\.(?:created|answered)$/.test(event ?? ''));
  await within(
    'all messages of the webhook',
    () => distinct(alive.received).length >= told.length,
    () => ({ delivered: distinct(alive.received).length, told: told.length }),
  );
  expect(distinct(alive.received)).toEqual(told.map(({ id }) => id));
  expect(alive.received.map(({ path }) => path)).not.toContain('/other');
  const created = told.filter(({ event }) => event === 'question.created').map(({ id }) => id);
  // Who says that it is gone is not asked again, and who fails is asked for the first message again and again.
  await within(
    'all messages of the webhook that is gone',
    () => distinct(gone.received).length >= created.length,
    () => ({ delivered: distinct(gone.received).length, told: created.length }),
  );
  expect(distinct(gone.received)).toEqual(created);
  for (const { received } of [failing, moved, silent]) expect(distinct(received)).toEqual(created.slice(0, 1));
  expect(await workers()).toHaveLength(1);
}

it('an hour of writes is told completely, once and in order, although the gateway is killed, restarted and reloaded', async () => {
  await surviveHour(11, 1, {});
}, 600_000);

needsProgram('redis', 'a fleet', (path) => {
  it('tells an hour of writes completely, once and in order, although its gateways are killed, restarted and reloaded', async () => {
    const redis = await startRedisServer(path);
    await surviveHour(12, 3, { redis: { ...PATIENT, url: redis.url } });
  }, 600_000);
});
