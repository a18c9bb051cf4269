import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { type ReferenceServer, startReferenceServer } from '../../../src/reference/start-reference-server.ts';
import { recordAction } from '../../../src/reference/operations/actions.ts';
import { addNode, insertNode } from '../../../src/reference/store/nodes.ts';
import { type NodeRow, openSql, type Sql } from '../../../src/reference/store/sql.ts';
import { createSeededRandom } from '../../../src/lib/seeded-random.ts';
import { callAt } from '../../builders/call.ts';
import { cleanUpAfterTest } from '../../builders/clean-up.ts';
import { closeServer } from '../../builders/close-server.ts';
import { fastRoles } from '../../builders/fast-roles.ts';
import { needsProgram } from '../../builders/needs-program.ts';
import { PATIENT, startRedisServer } from '../../builders/redis-server.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import { createTestClock } from '../../builders/test-clock.ts';
import { eventually, until } from '../../builders/until.ts';
import { openStream, type StreamMessage } from './open-stream.ts';

const EVENTS = '/services/v2/changes/events';
const LISTS = ['listQuestions', 'listIdeas', 'listArticles', 'listActions'];
const script = join(import.meta.dirname, 'feed-process.ts');

interface FeedProcess {
  readonly child: ChildProcess;
  readonly url: string;
  readonly adminUrl: string;
}

async function startFeed(folder: string, upstream: string): Promise<FeedProcess> {
  const child = spawn(process.execPath, [script, folder, upstream], { stdio: ['ignore', 'pipe', 'inherit'] });
  cleanUpAfterTest(() => child.kill('SIGKILL'));
  for await (const line of createInterface({ input: child.stdout }))
    return { child, ...(JSON.parse(line) as { url: string; adminUrl: string }) };
  throw new Error('the gateway did not start');
}

async function kill({ child }: FeedProcess): Promise<void> {
  // Its end would be awaited forever.
  if (child.exitCode !== null || child.signalCode !== null) throw new Error('the gateway has ended by itself');
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

/** A subscriber that reads from whichever gateway runs, and continues after its last event when it is cut off. */
class Subscriber {
  readonly messages: StreamMessage[] = [];
  /** The statuses of refused requests for a stream. */
  readonly refused: number[] = [];
  #isClosed = false;
  #running: Promise<void>;

  constructor(urlOf: () => string | undefined) {
    this.#running = this.#run(urlOf);
    cleanUpAfterTest(async () => {
      this.#isClosed = true;
      await this.#running;
    });
  }

  async #run(urlOf: () => string | undefined): Promise<void> {
    let lastId = '';
    while (!this.#isClosed) {
      const url = urlOf();
      const headers: Record<string, string> = lastId === '' ? {} : { 'Last-Event-ID': lastId };
      const stream = url === undefined ? undefined : await openStream(url, EVENTS, { headers }).catch(() => undefined);
      if (stream?.status === 410) throw new Error('history is gone');
      if (stream !== undefined && stream.status !== 200) this.refused.push(stream.status);
      let taken = 0;
      await until(() => {
        if (stream === undefined) return true;
        for (; taken < stream.messages.length; taken += 1) this.messages.push(stream.messages[taken] as StreamMessage);
        lastId = stream.lastId() ?? lastId;
        return stream.isEnded() || this.#isClosed;
      });
      stream?.close();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

interface Hour {
  readonly reference: ReferenceServer;
  readonly sql: Sql;
  readonly write: () => void;
  readonly actions: { readonly id: number; readonly node: number }[];
  readonly questions: Map<number, { created: boolean; lastActive: number }>;
}

/** Starts a reference server, and returns a function that makes a random write, six seconds after the one before. */
async function startHour(seed: number): Promise<Hour> {
  const clock = createTestClock();
  const db = join(tempFolder(), 'reference.db');
  const reference = await startReferenceServer({ db, clock, seed });
  cleanUpAfterTest(() => reference.close());
  const sql = openSql(db);
  cleanUpAfterTest(() => sql.close());
  const random = createSeededRandom(seed);
  const nodes = [...sql.all<NodeRow>("SELECT * FROM nodes WHERE type IN ('question', 'answer', 'idea') LIMIT 60")];
  const hour: Hour = {
    reference,
    sql,
    actions: [],
    questions: new Map(),
    write() {
      clock.advance(6);
      const at = clock();
      const authorId = 1;
      const act = (verb: string, node: NodeRow) => {
        const { id } = recordAction(sql, verb, authorId, node, at);
        if (node.visibility === null) hour.actions.push({ id, node: node.id });
      };
      const touched = (root: number, created: boolean) => {
        const isQuestion = sql.get("SELECT 1 FROM nodes WHERE id = ? AND type = 'question'", root) !== undefined;
        if (!isQuestion) return;
        const known = hour.questions.get(root);
        hour.questions.set(root, { created: created || known?.created === true, lastActive: at });
      };
      sql.transaction(() => {
        const dice = random.integer(0, 9);
        if (dice < 2) {
          const draft = { parent: undefined, spaceId: 1, authorId, title: `Title ${at}`, body: 'Body', at };
          const node = insertNode(sql, { ...draft, type: dice === 0 ? 'question' : 'idea' });
          nodes.push(node);
          touched(node.id, true);
          act('suggested', node);
          return;
        }
        const parent = random.pick(nodes);
        const type =
          parent.type === 'idea' ? 'ideacomment' : dice < 4 && parent.type === 'question' ? 'answer' : 'comment';
        const isPrivate = dice === 9;
        const added = addNode(sql, { type, parent, authorId, body: 'Text', at, showsActivity: !isPrivate });
        if (isPrivate) sql.run("UPDATE nodes SET visibility = 'moderators' WHERE id = ?", added.id);
        else touched(parent.root_id, false);
        act('commented', { ...added, visibility: isPrivate ? 'moderators' : null });
      });
    },
  };
  return hour;
}

async function configFolder(changes: object, more: object = {}): Promise<string> {
  const folder = tempFolder();
  writeFileSync(join(folder, 'password'), 'admin\n', { mode: 0o600 });
  writeFileSync(join(folder, 'roles.yaml'), await fastRoles());
  const config = {
    listen: { port: 0, adminPort: 0 },
    ledger: { file: ':memory:' },
    levels: { file: ':memory:' },
    learn: { file: ':memory:' },
    ...more,
    changes: {
      lists: LISTS,
      username: 'admin',
      passwordFile: join(folder, 'password'),
      folder: join(folder, 'changes'),
      everySeconds: 1,
      requestsPerMinute: 3_000,
      pageSize: 20,
      ...changes,
    },
  };
  writeFileSync(join(folder, 'portico.yaml'), JSON.stringify(config));
  return folder;
}

/** Waits for a condition for a while, so that a failure says what was missing. */
async function withinMinutes(condition: () => boolean, state: () => string): Promise<void> {
  const giveUpAt = performance.now() + 90_000;
  await until(() => condition() || performance.now() > giveUpAt);
  if (!condition()) throw new Error(state());
}

/** Resolves once each list has been read completely after this moment. */
async function caughtUp(adminUrls: () => readonly string[]): Promise<void> {
  const counts = async () => {
    const found = new Map<string, number>();
    for (const url of adminUrls()) {
      const { text } = await callAt(url, '/metrics', { user: null }).catch(() => ({ text: '' }));
      const series = /^portico_changes_readings_total\{list="(\w+)",outcome="complete"\} (\d+)$/gm;
      for (const [, list = '', count] of text.matchAll(series)) found.set(list, (found.get(list) ?? 0) + Number(count));
    }
    return found;
  };
  const before = await counts();
  await eventually(async () => {
    const now = await counts();
    // A reading that was in progress may have begun before.
    return LISTS.every((list) => (now.get(list) ?? 0) >= (before.get(list) ?? 0) + 2);
  });
}

/** Checks that events tell exactly what has happened, each once and in the order of each node. */
function expectAll(messages: readonly StreamMessage[], { actions, questions }: Hour): void {
  const ids = messages.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const found = messages.filter(({ event }) => event === 'action.created').map(({ data }) => Number(data.data['id']));
  expect(found.toSorted((a, b) => a - b)).toEqual(actions.map(({ id }) => id).toSorted((a, b) => a - b));
  const byNode = new Map<string, number[]>();
  for (const { event, data } of messages) {
    const by = event === 'action.created' ? 'id' : 'lastActiveDate';
    const key = `${data.list} ${data.target.type} ${data.target.id}`;
    byNode.set(key, [...(byNode.get(key) ?? []), Number(data.data[by])]);
  }
  for (const [key, values] of byNode) expect([key, values]).toEqual([key, values.toSorted((a, b) => a - b)]);
  for (const [id, { created, lastActive }] of questions) {
    const own = messages.filter(({ data }) => data.list === 'listQuestions' && data.target.id === String(id));
    expect(own.at(-1)?.data.data['lastActiveDate']).toBe(lastActive);
    expect(own.filter(({ event }) => event === 'question.created')).toHaveLength(created ? 1 : 0);
  }
  const told = messages.filter(({ data }) => data.list === 'listQuestions').map(({ data }) => Number(data.target.id));
  expect(new Set(told)).toEqual(new Set(questions.keys()));
}

/** Receives the messages of a webhook, each of which may come more than once. Every thirtieth attempt fails. */
async function startReceiver() {
  const received: { readonly id: string; readonly kind: string }[] = [];
  let attempts = 0;
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      attempts += 1;
      if (attempts % 30 === 0) {
        response.writeHead(503, { 'Retry-After': '1' }).end();
        return;
      }
      const { type } = JSON.parse(Buffer.concat(parts).toString()) as { type: string };
      received.push({ id: String(request.headers['webhook-id']), kind: type });
      response.writeHead(204).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUpAfterTest(() => closeServer(server));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, received };
}

it('an hour of writes is told completely, once and in order, although the gateway is killed again and again', async () => {
  const hour = await startHour(11);
  const receiver = await startReceiver();
  const secrets = join(tempFolder(), 'secrets');
  mkdirSync(secrets);
  writeFileSync(join(secrets, 'alive.key'), `whsec_${Buffer.alloc(32).toString('base64')}\n`, { mode: 0o600 });
  const folder = await configFolder({
    secrets,
    allowPrivate: ['127.0.0.0/8'],
    webhooks: [
      { name: 'alive', url: receiver.url, account: 'admin', kinds: ['question.created'] },
      { name: 'dead', url: 'http://127.0.0.1:9/', account: 'admin', format: 'slack' },
    ],
  });
  let feed: FeedProcess | undefined = await startFeed(folder, hour.reference.url);
  const adminUrls = () => (feed === undefined ? [] : [feed.adminUrl]);
  await caughtUp(adminUrls);
  // A webhook gets what happens after the gateway has first looked at it.
  const stored = new DatabaseSync(join(folder, 'changes', 'feed.db'), { readOnly: true });
  const isKnown = stored.prepare("SELECT 1 FROM documents WHERE name = 'webhook:alive'");
  await eventually(() => isKnown.get() !== undefined);
  stored.close();
  const subscriber = new Subscriber(() => feed?.url);
  const late = await openStream(feed.url, EVENTS);
  expect(late.status).toBe(200);
  late.pause();
  const total = 600;
  const kills = new Set([40, 41, 260, 555]);
  // The subscriber must know where the hour begins.
  await eventually(async () => {
    const { text } = await callAt(feed?.adminUrl ?? '', '/metrics', { user: null });
    return text.includes('portico_changes_subscribers 2');
  });
  for (let count = 0; count < total; count += 1) {
    hour.write();
    if (count % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 60));
    if (!kills.has(count)) continue;
    await kill(feed);
    feed = undefined;
    for (let more = 0; more < 5; more += 1) hour.write();
    feed = await startFeed(folder, hour.reference.url);
  }
  await caughtUp(adminUrls);
  const actionsTold = () => subscriber.messages.filter(({ event }) => event === 'action.created').length;
  await withinMinutes(
    () => actionsTold() >= hour.actions.length,
    () => `${actionsTold()} of ${hour.actions.length} actions were told; refused: ${subscriber.refused.join(', ')}`,
  );
  await caughtUp(adminUrls);
  expectAll(subscriber.messages, hour);
  const created = subscriber.messages.filter(({ event }) => event === 'question.created').map(({ id }) => id);
  const delivered = () => new Set(receiver.received.map(({ id }) => id)).size;
  await withinMinutes(
    () => delivered() >= created.length,
    () => `${delivered()} of ${created.length} messages were delivered`,
  );
  expect([...new Set(receiver.received.map(({ id }) => id))]).toEqual(created);
}, 300_000);

needsProgram('redis', 'a fleet', (path) => {
  it('tells an hour of writes completely, once and in order, although the gateway at work is killed', async () => {
    const redis = await startRedisServer(path);
    const hour = await startHour(12);
    const folder = await configFolder({}, { redis: { ...PATIENT, url: redis.url } });
    const fleet = new Set([
      await startFeed(folder, hour.reference.url),
      await startFeed(folder, hour.reference.url),
      await startFeed(folder, hour.reference.url),
    ]);
    const adminUrls = () => [...fleet].map(({ adminUrl }) => adminUrl);
    const isWorking = async ({ adminUrl }: FeedProcess) => {
      const { text } = await callAt(adminUrl, '/metrics', { user: null });
      return /^portico_changes_working 1$/m.test(text);
    };
    const workers = async () => {
      const states = await Promise.all([...fleet].map(async (one) => ((await isWorking(one)) ? [one] : [])));
      return states.flat();
    };
    await caughtUp(adminUrls);
    expect(await workers()).toHaveLength(1);
    // Each subscriber stays with the gateways that are left.
    const subscribers = [0, 1].map((index) => new Subscriber(() => [...fleet].at(-1 - index)?.url));
    await eventually(async () => {
      const texts = await Promise.all(
        adminUrls().map(async (url) => (await callAt(url, '/metrics', { user: null })).text),
      );
      const counts = texts.map((text) => Number(/^portico_changes_subscribers (\d+)$/m.exec(text)?.[1]));
      return counts.reduce((sum, count) => sum + count, 0) === 2;
    });
    for (let count = 0; count < 400; count += 1) {
      hour.write();
      if (count % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 60));
      if (count !== 150) continue;
      const [worker] = await workers();
      if (worker === undefined) throw new Error('no gateway works');
      fleet.delete(worker);
      await kill(worker);
    }
    await caughtUp(adminUrls);
    for (const { messages } of subscribers) {
      await until(() => messages.filter(({ event }) => event === 'action.created').length >= hour.actions.length);
      expectAll(messages, hour);
    }
    expect(await workers()).toHaveLength(1);
  }, 300_000);
});
