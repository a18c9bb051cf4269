import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import { openAlone } from '../../../src/engine/sharing/alone/open-alone.ts';
import { createSender } from '../../../src/features/changes/deliver.ts';
import type { FeedEvent, NewEvent } from '../../../src/features/changes/event.ts';
import type { FeedStore } from '../../../src/features/changes/feed-store.ts';
import { createAddressCheck, createCheckedLookup } from '../../../src/features/changes/private-networks.ts';
import { openSqliteStore } from '../../../src/features/changes/sqlite-store.ts';
import { createTurns } from '../../../src/features/changes/turns.ts';
import { createWebhooks, type Webhook } from '../../../src/features/changes/webhooks.ts';
import { cleanUpAfterTest } from '../../builders/clean-up.ts';
import { closeServer } from '../../builders/close-server.ts';
import { createTestClock, type TestClock } from '../../builders/test-clock.ts';

const HOUR = 3_600;

/** A receiver of messages. */
interface Receiver {
  readonly url: string;
  readonly received: { readonly id: string; readonly body: { readonly type: string } }[];
  respond: (response: ServerResponse, request: IncomingMessage) => void;
}

async function startReceiver({ host = '127.0.0.1', port = 0 } = {}): Promise<Receiver> {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(parts).toString()) as { type: string };
      receiver.received.push({ id: String(request.headers['webhook-id']), body });
      receiver.respond(response, request);
    });
  });
  server.listen(port, host);
  await once(server, 'listening');
  cleanUpAfterTest(() => closeServer(server));
  const receiver: Receiver = {
    url: `http://${host}:${(server.address() as AddressInfo).port}/hook`,
    received: [],
    respond: (response) => response.writeHead(204).end(),
  };
  return receiver;
}

const event = (id: number, source = 'listBooks', kind = 'book.created'): NewEvent => ({
  source,
  kind,
  target: { type: 'book', id: String(id) },
  title: undefined,
  data: JSON.stringify({ id }),
});

describe('webhooks', () => {
  let clock: TestClock;
  let store: FeedStore;
  let receiver: Receiver;
  let results: string[];
  let allowed: Set<string>;
  let isTrue: (event: FeedEvent) => boolean;

  beforeEach(async () => {
    clock = createTestClock();
    store = openSqliteStore(':memory:', { maxEvents: 1_000, retentionMs: 30 * 24 * HOUR * 1000 });
    cleanUpAfterTest(() => store.close());
    receiver = await startReceiver();
    results = [];
    allowed = new Set(['reader listBooks']);
    isTrue = () => true;
  });

  const create = (
    more: { [Key in keyof Webhook]?: Webhook[Key] | undefined } = {},
    allowPrivate = ['127.0.0.0/8'],
    resolve?: Parameters<typeof createCheckedLookup>[1],
  ) => {
    const mayUse = createAddressCheck(allowPrivate);
    const sender = createSender(createCheckedLookup(mayUse, resolve), mayUse, clock);
    cleanUpAfterTest(() => sender.close());
    const usual = { name: 'one', url: receiver.url, account: 'reader', kinds: [], format: 'standard' };
    const webhook = { ...usual, keys: [Buffer.alloc(32)], ...more } as Webhook;
    const webhooks = createWebhooks({
      webhooks: [webhook],
      store,
      lineage: () => '0badcafe',
      turns: createTurns(openAlone(clock), clock, 60),
      sender,
      clock,
      random: () => 0.5,
      logger: pino({ enabled: false }),
      mayUse: (account, operation) => allowed.has(`${account} ${operation}`),
      isStillTrue: async (one) => Promise.resolve(isTrue(one)),
      onResult: (_, result) => void results.push(result),
    });
    return { webhooks, tick: () => webhooks.tick(webhook, new AbortController().signal) };
  };
  let revision = 0;
  beforeEach(() => {
    revision = 0;
  });
  const add = async (...events: readonly NewEvent[]) => {
    await store.commit({ document: 'list', revision: revision++, text: '', events, at: clock() });
  };
  const ids = () => receiver.received.map(({ id }) => id);

  it('receive what happens from then on, in order', async () => {
    await add(event(1));
    const { tick } = create();
    await tick();
    await add(event(2), event(3));
    await tick();
    expect(ids()).toEqual(['0badcafe.2', '0badcafe.3']);
    await tick();
    expect(ids()).toHaveLength(2);
  });

  it('receive nothing that their account may not read, as the roles are at that moment', async () => {
    const { tick } = create();
    await tick();
    await add(event(1, 'listSecrets'), event(2));
    allowed.clear();
    await add(event(3));
    await tick();
    expect(ids()).toEqual([]);
    allowed.add('reader listBooks');
    await add(event(4));
    await tick();
    expect(ids()).toEqual(['0badcafe.4']);
  });

  it('without an account receive only news about Portico itself', async () => {
    const { tick } = create({ account: undefined });
    await tick();
    await add(event(1), event(2, 'portico', 'violation.new'));
    await tick();
    expect(receiver.received.map(({ body }) => body.type)).toEqual(['violation.new']);
  });

  it('do not receive news that are no longer true', async () => {
    const { tick } = create();
    await tick();
    await add(event(1, 'portico', 'violation.new'));
    isTrue = () => false;
    await tick();
    expect(receiver.received).toEqual([]);
    expect(results).toEqual(['withdrawn']);
  });

  it('that fail are tried again after longer and longer pauses, in order, and go on where they were', async () => {
    const { tick, webhooks } = create();
    await tick();
    receiver.respond = (response) => response.writeHead(500).end();
    await add(event(1), event(2));
    const attempts: number[] = [];
    const startedAt = clock();
    while (clock() - startedAt < 600_000) {
      const before = receiver.received.length;
      await tick();
      if (receiver.received.length > before) attempts.push(Math.round((clock() - startedAt) / 1000));
      clock.advance(5);
    }
    expect(attempts).toEqual([0, 5, 15, 35, 75, 155, 315]);
    expect(new Set(ids())).toEqual(new Set(['0badcafe.1']));
    expect(webhooks.status()).toMatchObject([{ backlog: 2, failures: 7, reason: 'status 500' }]);
    receiver.respond = (response) => response.writeHead(200).end();
    clock.advance(HOUR);
    await tick();
    expect(ids().slice(-2)).toEqual(['0badcafe.1', '0badcafe.2']);
    expect(webhooks.status()).toMatchObject([{ backlog: 0, failures: 0, reason: undefined }]);
  });

  it.each(['seconds', 'date'])('wait as long as the receiver asks for with a %s', async (form) => {
    const { tick } = create();
    await tick();
    const waitFor = form === 'date' ? new Date(clock() + 120_000 + 999).toUTCString() : '120';
    receiver.respond = (response) => response.writeHead(429, { 'Retry-After': waitFor }).end();
    await add(event(1));
    await tick();
    clock.advance(119);
    await tick();
    expect(receiver.received).toHaveLength(1);
    clock.advance(2);
    await tick();
    expect(receiver.received).toHaveLength(2);
  });

  it('that fail for a day are asked 34 times, at most once an hour, and only for the first message', async () => {
    const { tick, webhooks } = create();
    await tick();
    receiver.respond = (response) => response.writeHead(500).end();
    await add(event(1), event(2), event(1));
    const startedAt = clock();
    const attempts: number[] = [];
    while (webhooks.status()[0]?.dead.length === 0) {
      attempts.push((clock() - startedAt) / 1000);
      await tick();
      const { nextAt = 0 } = webhooks.status()[0] ?? {};
      if (nextAt > clock()) clock.advance((nextAt - clock()) / 1000);
    }
    expect(attempts.slice(0, 12)).toEqual([0, 5, 15, 35, 75, 155, 315, 635, 1_275, 2_555, 5_115, 8_715]);
    expect(attempts).toHaveLength(34);
    expect(attempts.at(-1)).toBe(24 * HOUR + 1_515);
    expect(ids().slice(0, 34)).toEqual(ids().slice(0, 34).fill('0badcafe.1'));
    expect(results.filter((one) => one === 'dead')).toHaveLength(3);
    expect(new Set(ids())).toEqual(new Set(['0badcafe.1', '0badcafe.2', '0badcafe.3']));
  });

  it('that say they are gone get each message once', async () => {
    const { tick, webhooks } = create();
    await tick();
    receiver.respond = (response) => response.writeHead(410).end();
    await add(event(1), event(2));
    await tick();
    expect(ids()).toEqual(['0badcafe.1', '0badcafe.2']);
    expect(webhooks.status()).toMatchObject([{ backlog: 0, dead: [{ number: 1 }, { number: 2 }] }]);
  });

  it('give messages up after a day, and can send them again', async () => {
    const { tick, webhooks } = create();
    await tick();
    receiver.respond = (response) => response.writeHead(503).end();
    await add(event(1));
    for (let hour = 0; hour <= 26; hour += 1) {
      await tick();
      clock.advance(HOUR);
    }
    expect(results.filter((one) => one === 'dead')).toHaveLength(1);
    expect(webhooks.status()).toMatchObject([{ backlog: 0, dead: [{ number: 1, reason: 'status 503' }] }]);
    receiver.respond = (response) => response.writeHead(200).end();
    await add(event(2));
    clock.advance(2 * HOUR);
    await tick();
    expect(ids().at(-1)).toBe('0badcafe.2');
    expect(await webhooks.retryDead('one')).toBe(1);
    expect(await webhooks.retryDead('other')).toBeUndefined();
    await tick();
    expect(ids().at(-1)).toBe('0badcafe.1');
    await webhooks.refresh();
    expect(webhooks.status()).toMatchObject([{ backlog: 0, dead: [] }]);
  });

  it('follow no redirects', async () => {
    const other = await startReceiver();
    const { tick, webhooks } = create();
    await tick();
    receiver.respond = (response) => response.writeHead(307, { Location: other.url }).end();
    await add(event(1));
    await tick();
    expect(other.received).toEqual([]);
    expect(webhooks.status()).toMatchObject([{ reason: 'status 307' }]);
  });

  it.each([
    '127.0.0.1',
    'localhost',
    'LOCALHOST',
    '[::1]',
    '[::]',
    '0',
    '0.0.0.0',
    '127.1',
    '127.0.0.1.',
    '0x7f.0.0.1',
    '0177.0.0.1',
    '2130706433',
    '017700000001',
    '①②⑦.⓪.⓪.①',
    '[::ffff:127.0.0.1]',
    '[0:0:0:0:0:ffff:7f00:1]',
    '[::127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '169.254.169.254',
    '[fe80::1]',
    '[fd00:ec2::254]',
  ])('are not sent to %s unless it is allowed', async (host) => {
    const { port } = new URL(receiver.url);
    const { tick, webhooks } = create({ url: `http://${host}:${port}/` }, []);
    await tick();
    await add(event(1));
    await tick();
    expect(receiver.received).toEqual([]);
    const [status] = webhooks.status();
    expect(status?.reason).toBe('the address is in a private network that changes.allowPrivate does not list');
  });

  it('connect to the address that was checked, and check it again for each connection', async () => {
    const { port } = new URL(receiver.url);
    const inside = await startReceiver({ host: '127.0.0.2', port: Number(port) });
    const found = ['127.0.0.1', '127.0.0.2'];
    const { tick, webhooks } = create(
      { url: `http://hooks.example:${port}/` },
      ['127.0.0.1'],
      (_host, _options, done) => done(null, [{ address: found.shift() ?? '127.0.0.2', family: 4 }]),
    );
    await tick();
    receiver.respond = (response) => response.writeHead(200, { Connection: 'close' }).end();
    await add(event(1));
    await tick();
    expect(ids()).toEqual(['0badcafe.1']);
    await add(event(2));
    await tick();
    expect(ids()).toHaveLength(1);
    expect(inside.received).toEqual([]);
    expect(webhooks.status()).toMatchObject([{ reason: expect.stringContaining('private network') as string }]);
  });

  it('continue after a crash between a delivery and its record with the same message', async () => {
    const first = create();
    await first.tick();
    await add(event(1), event(2));
    const commit = store.commit;
    const broken = { ...store, commit: () => false };
    Object.assign(store, { commit: broken.commit });
    await first.tick();
    Object.assign(store, { commit });
    clock.advance(60);
    const second = create();
    await second.tick();
    expect(ids()).toEqual(['0badcafe.1', '0badcafe.1', '0badcafe.2']);
  });

  it('receive only the kinds that they want', async () => {
    const { tick } = create({ kinds: ['book.changed'] });
    await tick();
    await add(event(1), event(2, 'listBooks', 'book.changed'));
    await tick();
    expect(ids()).toEqual(['0badcafe.2']);
  });
});
