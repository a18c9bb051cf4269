import { connect } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { assert as check, asyncProperty, constantFrom, record } from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it, type MockInstance, vi } from 'vitest';
import type { Authenticator } from '../../src/identity/authenticator.ts';
import { basic } from '../builders/call.ts';
import { exampleOf } from '../builders/contract-examples.ts';
import { errorText, PERMISSION_HTML } from '../builders/error-shapes.ts';
import { exampleAnswer } from '../builders/example-answer.ts';
import { type FakeHandler, type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { knowing } from '../builders/knowing-upstream.ts';
import { operationOf, targetOf } from '../builders/operations.ts';
import { createTestClock, type TestClock } from '../builders/test-clock.ts';
import { startTestGateway, type TestGateway, type TestGatewayOptions } from '../builders/test-gateway.ts';
import { until } from '../builders/until.ts';

/*
 * A plain request for a page that was answered from memory before is not read again. Nobody may be able to tell but by the
 * time that it takes: whoever goes the long way instead, by a field that changes nothing, gets the same.
 */

const QUESTIONS = targetOf(operationOf('listQuestions'));
const IDEAS = targetOf(operationOf('listIdeas'));
const COMMENTS = targetOf(operationOf('listAnswerComments'));
const WRITE = targetOf(operationOf('cancelWiki'));
/** Has a request read whole and says nothing: no role's wish for a fresh answer counts. */
const LONG_WAY: Field = ['Pragma', 'none'];

type Field = readonly [name: string, value: string];

interface Asked {
  readonly target: string;
  readonly method?: string;
  /** The name and the password; null for no credential. */
  readonly user?: string | null;
  /** In place of a credential of `user`. */
  readonly fields?: readonly Field[];
}

interface Heard {
  readonly status: number;
  /** Names and values in turn. */
  readonly raw: readonly string[];
  readonly fields: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly text: string;
}

/** A connection that sends texts as they are and hears answers in their order. */
interface Wire {
  send(text: string): void;
  answer(method?: string): Promise<Heard>;
  ask(asked: Asked): Promise<Heard>;
  close(): void;
}

const wires = new Set<Wire>();
afterEach(() => {
  for (const wire of wires) wire.close();
});

function open(url: string): Wire {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let received = Buffer.alloc(0);
  let ended = false;
  socket.on('data', (part: Buffer) => {
    received = Buffer.concat([received, part]);
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    ended = true;
  });
  const wire: Wire = {
    send: (text) => void socket.write(text, 'latin1'),
    async answer(method = 'GET') {
      await until(() => received.includes('\r\n\r\n') || ended);
      const headEnd = received.indexOf('\r\n\r\n');
      if (headEnd < 0) throw new Error(`the connection ended: ${received.toString()}`);
      const [first = '', ...lines] = received.subarray(0, headEnd).toString('latin1').split('\r\n');
      const raw = lines.flatMap((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]);
      const fields: Record<string, string> = {};
      for (let at = 0; at < raw.length; at += 2) fields[(raw[at] ?? '').toLowerCase()] = raw[at + 1] ?? '';
      const status = Number(first.split(' ')[1]);
      const length = method === 'HEAD' || status === 304 ? 0 : Number(fields['content-length'] ?? 0);
      const end = headEnd + 4 + length;
      await until(() => received.length >= end || ended);
      const body = received.subarray(headEnd + 4, end);
      received = received.subarray(end);
      return { status, raw, fields, body, text: body.toString() };
    },
    ask(asked) {
      wire.send(textOf(asked));
      return wire.answer(asked.method);
    },
    close() {
      wires.delete(wire);
      socket.destroy();
    },
  };
  wires.add(wire);
  return wire;
}

/** The text of a request; a `Host` is added where the fields have none. */
function textOf({ target, method = 'GET', user = 'alice', fields = [] }: Asked): string {
  const has = (name: string) => fields.some((field) => field[0].toLowerCase() === name);
  const all: Field[] = [
    ...(has('host') ? [] : [['Host', 'qa.example.org'] as const]),
    ...(user === null || has('authorization') ? [] : [['Authorization', basic(user)] as const]),
    ...fields,
  ];
  return [`${method} ${target} HTTP/1.1`, ...all.map(([name, value]) => `${name}: ${value}`), '', ''].join('\r\n');
}

/** A gateway whose requests are told apart by the way they go. */
interface Watched extends TestGateway {
  /** Asked for every request that goes the long way, unless it is refused before. */
  readonly authenticate: MockInstance<Authenticator['authenticate']>;
  /** One request on a connection of its own. */
  ask(asked: Asked): Promise<Heard>;
  /** Gives what the work does, and expects that nothing of it went the long way. */
  fast<T>(work: () => Promise<T>): Promise<T>;
  /** Asks until the target is known and its page is answered from memory to this caller. */
  warm(asked: Asked): Promise<Heard>;
  /** Asks until the gzip form of the page is there. */
  gzipped(target: string): Promise<Heard>;
}

async function watch(options: TestGatewayOptions): Promise<Watched> {
  const gateway = await startTestGateway(options);
  const authenticate = vi.spyOn(gateway.gateway.services.authenticator, 'authenticate');
  const ask = async (asked: Asked) => {
    const wire = open(gateway.url);
    const heard = await wire.ask(asked);
    wire.close();
    return heard;
  };
  return Object.assign(gateway, {
    authenticate,
    ask,
    async fast<T>(work: () => Promise<T>) {
      authenticate.mockClear();
      const result = await work();
      expect(authenticate.mock.calls).toEqual([]);
      return result;
    },
    async warm(asked: Asked) {
      for (let times = 0; times < 4; times += 1) {
        authenticate.mockClear();
        const heard = await ask(asked);
        if (authenticate.mock.calls.length === 0) return heard;
      }
      throw new Error(`${asked.target} is never answered the fast way`);
    },
    async gzipped(target: string) {
      for (let times = 0; times < 500; times += 1) {
        const heard = await ask({ target, fields: [['Accept-Encoding', 'gzip']] });
        if (heard.fields['content-encoding'] === 'gzip') return heard;
      }
      throw new Error(`${target} has never a gzip form`);
    },
  });
}

const lastLine = ({ log }: TestGateway) => JSON.parse(log.at(-1) ?? '{}') as Record<string, unknown>;
const jsonOf = ({ text }: Heard) => JSON.parse(text) as Record<string, unknown>;

/** A list of that operation with text enough to be worth compressing. */
function listNamed(id: string, name: string, more: object = {}): { readonly json: unknown } {
  return {
    json: { ...exampleOf(id), pageCount: 9, totalCount: 130, name: `${name}<${'long '.repeat(300)}>`, ...more },
  };
}

/** Answers that say who fetched them, how often anything was fetched before, and hold private fields among the comments. */
const telling: FakeHandler = (request) => {
  const { path, user = 'nobody', target } = request;
  if (path.endsWith(QUESTIONS)) return listNamed('listQuestions', `of ${user} for ${target}`);
  if (path.endsWith(IDEAS)) return listNamed('listIdeas', `of ${user} for ${target}`);
  if (!path.endsWith(COMMENTS)) return exampleAnswer(request);
  const comments = exampleOf('listAnswerComments');
  Object.assign(comments.list[0], { visibility: 'recipients', recipients: [{ id: 7, name: 'Staff', type: 'group' }] });
  return { json: { ...comments, name: 'long '.repeat(300) } };
};

const publicly = { cache: { audience: 'public', assumeImpersonal: true } };
const SHARED = {
  cache: { sampleShared: 0 },
  operations: { listIdeas: publicly, listAnswerComments: publicly },
};

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const right = (name: string): readonly Field[] => [['Authorization', basic(name)]];
const oneOf = (name: string, ...values: (readonly string[])[]) =>
  constantFrom(...values.map((texts) => texts.map((text): Field => [name, text])));
const answerOf = ({ status, text }: Heard) => [status, (JSON.parse(text) as { code?: string }).code];
const shrinking = (number: number): Asked => ({ target: `${QUESTIONS}?q=shrinks&page=${number}` });

/** Names and values of fields, but those that differ by request. */
const lasting = ({ rawHeaders = [] as readonly string[] } = {}) =>
  rawHeaders.filter((_text, at) => at % 2 === 0 || !/^traceparent|^x-request-id/i.test(rawHeaders[at - 1] ?? ''));

/** A page whose items are in a space. */
const inSpace = (space: number) => {
  const { json } = listNamed('listQuestions', `in ${space}`);
  const { list } = json as { list: Record<string, unknown>[] };
  return {
    json: { ...(json as object), list: list.map((item) => Object.assign(item, { containerIds: [space] })) },
  };
};

afterAll(() => {
  vi.restoreAllMocks();
});

describe('the fast way and the long way', () => {
  const KEPT = [`${QUESTIONS}?page=2&pageSize=15`, `${IDEAS}?q=a%20b`, COMMENTS];
  const TARGETS = [...KEPT, targetOf(operationOf('getComment'))];
  const NAMES = ['alice', 'bob', 'guest', 'nobody'];
  let gateway: Watched;
  let tags: readonly string[];

  beforeAll(async () => {
    const upstream = await startFakeUpstream(telling);
    const clock = createTestClock();
    const failures = { limit: 1000 };
    gateway = await watch({
      upstream,
      clock,
      // An alert about refusals would be one line more, once in a while.
      config: {
        ...SHARED,
        authentication: { anonymous: 'allow', failures },
        ladder: { demote: { minAnswers: 1_000_000 } },
      },
    });
    const found = new Set<string>();
    for (const target of TARGETS) {
      await gateway.warm({ target });
      for (const name of [...NAMES, null]) {
        for (const encoding of ['gzip', 'gzip', 'identity']) {
          const fields: Field[] = [['Accept-Encoding', encoding]];
          const { fields: heard } = await gateway.ask({ target, user: name, fields });
          if (heard['etag'] !== undefined) found.add(heard['etag']);
        }
      }
    }
    for (const target of KEPT) found.add((await gateway.gzipped(target)).fields['etag'] ?? '');
    tags = [...found];
    clock.advance(7);
  });

  /** Portico's own counters and gauges by name and labels. */
  async function series(): Promise<Map<string, number>> {
    const lines = (await gateway.gateway.services.metrics.exposition()).split('\n');
    // A scrape tells of itself too.
    const own = lines.filter((line) => line.startsWith('portico_') && !line.startsWith('portico_scrape_'));
    return new Map(
      own.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
    );
  }

  /** Everything that can be seen of a request but its ids. */
  async function seen(asked: Asked) {
    const marked = gateway.log.length;
    const before = await series();
    gateway.authenticate.mockClear();
    const heard = await gateway.ask(asked);
    await until(() => gateway.log.length > marked);
    const after = await series();
    const id = heard.fields['x-request-id'] ?? '';
    const line = lastLine(gateway);
    const traces = (asked.fields ?? []).filter(([name, value]) => name === 'traceparent' && value === TRACE);
    expect(gateway.log.length).toBe(marked + 1);
    expect(line['requestId']).toBe(id);
    expect(heard.raw.filter((name) => name === 'X-Request-Id')).toHaveLength(1);
    if (traces.length === 1) expect(line['traceId']).toBe(TRACE.slice(3, 35));
    return {
      went: gateway.authenticate.mock.calls.length === 0 ? 'fast' : 'long',
      id,
      status: heard.status,
      raw: heard.raw.map((text) => (text === id ? 'ID' : text.replace(/^\w{3}, .* GMT$/, 'DATE'))),
      text: heard.body.toString('latin1').replaceAll(id, 'ID'),
      line: JSON.stringify({ ...line, requestId: 'ID', traceId: '' }),
      // The counters of a request go on from those of the last one.
      counted: [...after].flatMap(([name, value]) =>
        value === before.get(name) ? [] : [[name, value - (before.get(name) ?? 0)]],
      ),
    };
  }

  const credentials = {
    none: () => [],
    right,
    wrong: (name: string): readonly Field[] => [['Authorization', basic(name, 'guessed')]],
    'in another spelling': (name: string): readonly Field[] => [
      ['authorization', basic(name).replace('Basic', 'basic')],
    ],
  };
  const request = record({
    target: constantFrom(...TARGETS),
    method: constantFrom('GET', 'GET', 'GET', 'GET', 'HEAD'),
    name: constantFrom(...NAMES),
    credential: constantFrom(
      ...Array.from({ length: 8 }, () => 'right' as const),
      ...(Object.keys(credentials) as (keyof typeof credentials)[]),
    ),
    condition: constantFrom(undefined, undefined, '*', '"other"', 0, 1, 2, 3, 4, 5, 6, 7, 8),
    encoding: oneOf('Accept-Encoding', [], [], ['gzip'], ['br, gzip;q=0.5'], ['gzip;q=0'], ['*'], ['gzip', 'br'], ['']),
    requestId: oneOf(
      'X-Request-Id',
      [],
      [],
      [],
      ['a:b/c+d=e.f_g-h'],
      ['mine-1'],
      ['not mine'],
      ['mine-1', 'mine-2'],
      [''],
      ['a'.repeat(129)],
    ),
    trace: oneOf('traceparent', [], [], [], [TRACE], [TRACE], ['00-0-0-00'], [TRACE, TRACE]),
    host: oneOf(
      'Host',
      ['qa.example.org'],
      ['qa.example.org'],
      ['qa.example.org:8080'],
      ['qa.example.org'],
      [''],
      ['[::1]:80'],
    ),
    connection: oneOf('Connection', [], ['close'], ['keep-alive']),
  });
  const DOUBLED = new Set(['Accept-Encoding', 'X-Request-Id', 'traceparent']);

  it('give the same status, fields and body, count the same and log the same', async () => {
    const went = { fast: 0, long: 0 };
    await check(
      asyncProperty(request, async (given) => {
        const condition = typeof given.condition === 'number' ? tags[given.condition % tags.length] : given.condition;
        const fields: Field[] = [
          ...given.host,
          ...given.encoding,
          ...given.requestId,
          ...credentials[given.credential](given.name),
          ...given.trace,
          ...given.connection,
          ...(condition === undefined ? [] : [['If-None-Match', condition] as const]),
        ];
        const { target, method } = given;
        const { went: firstWay, id, ...first } = await seen({ target, method, user: null, fields });
        const {
          went: _way,
          id: otherId,
          ...expected
        } = await seen({
          target,
          method,
          user: null,
          fields: [...fields, LONG_WAY],
        });
        expect(first).toEqual(expected);
        expect(first.counted).not.toEqual([]);
        if (given.requestId[0]?.[1] === 'mine-1' && given.requestId.length === 1)
          expect([id, otherId]).toEqual(['mine-1', 'mine-1']);
        const plain =
          method === 'GET' &&
          (given.credential === 'right' || given.credential === 'none') &&
          !fields.some(([name], at) => DOUBLED.has(name) && fields.findIndex((other) => other[0] === name) !== at);
        expect(firstWay).toBe(plain ? 'fast' : 'long');
        went[plain ? 'fast' : 'long'] += 1;
      }),
      { numRuns: 200 },
    );
    expect(Math.min(went.fast, went.long)).toBeGreaterThan(20);
  }, 60_000);
});

describe('a draining gateway', () => {
  it('says on the fast way too that the connection ends', async () => {
    const gateway = await watch({
      upstream: await startFakeUpstream(telling),
      clock: createTestClock(),
      config: SHARED,
    });
    const asks: Asked[] = [
      { target: QUESTIONS },
      { target: QUESTIONS, fields: [['If-None-Match', '*']] },
      { target: IDEAS, user: 'guest' },
      { target: QUESTIONS, fields: [['X-Request-Id', 'mine']] },
    ];
    await gateway.warm({ target: QUESTIONS });
    await gateway.warm({ target: IDEAS });
    await gateway.warm({ target: QUESTIONS, user: 'guest' });
    const halves = asks.flatMap((asked) =>
      [asked, { ...asked, fields: [...(asked.fields ?? []), LONG_WAY] }].map((one) => {
        const text = textOf(one);
        const wire = open(gateway.url);
        return { wire, rest: text.slice(-2), first: text.slice(0, -2) };
      }),
    );
    // A connection is used before, so that the gateway has taken it; half a request keeps it open.
    for (const { wire, first } of halves) {
      await wire.ask({ target: QUESTIONS });
      wire.send(first);
    }
    await gateway.ask({ target: QUESTIONS });
    const closed = gateway.close();
    const heard: Heard[] = [];
    for (const { wire, rest } of halves) {
      const marked = gateway.log.length;
      gateway.authenticate.mockClear();
      wire.send(rest);
      const one = await wire.answer();
      await until(() => gateway.log.length > marked);
      heard.push(one);
      expect(gateway.authenticate.mock.calls).toHaveLength(heard.length % 2 === 1 ? 0 : 1);
    }
    await closed;
    const shown = ({ status, raw, text, fields }: Heard) => ({
      status,
      fields: raw.filter((name, at) => at % 2 === 0 && name !== 'Date'),
      text: text.replaceAll(fields['x-request-id'] ?? '', 'ID'),
    });
    for (let at = 0; at < heard.length; at += 2) {
      const [fast, long] = heard.slice(at, at + 2);
      if (fast === undefined || long === undefined) throw new Error('no answer');
      expect(fast.fields['connection']).toBe('close');
      expect(shown(fast)).toEqual(shown(long));
    }
    expect(heard.map(({ status }) => status)).toEqual([200, 200, 304, 304, 403, 403, 200, 200]);
  });
});

describe('a credential', () => {
  let fake: FakeUpstream;
  let clock: TestClock;
  let gateway: Watched;
  beforeAll(async () => {
    fake = await startFakeUpstream(knowing(telling));
    clock = createTestClock();
    gateway = await watch({
      upstream: fake,
      clock,
      real: true,
      keepAccounts: true,
      config: { mode: 'strict', cache: { freshSeconds: 600, sampleShared: 0 }, operations: { listIdeas: publicly } },
    });
  });
  afterEach(() => {
    fake.handler = knowing(telling);
  });

  const refused = async (asked: Asked) => {
    const heard = await gateway.ask(asked);
    expect([heard.status, jsonOf(heard)['code']]).toEqual([401, 'credentials_refused']);
    expect(heard.text).not.toContain(' for ');
  };

  it('with another password for the same name gets nothing, before and after a hit of the right one', async () => {
    await gateway.warm({ target: QUESTIONS });
    await refused({ target: QUESTIONS, fields: [['Authorization', basic('alice', 'alicf')]] });
    const { status } = await gateway.fast(() => gateway.ask({ target: QUESTIONS }));
    expect(status).toBe(200);
    await refused({ target: QUESTIONS, fields: [['Authorization', basic('alice', 'alicf')]] });
  });

  it('of equal length is another one, whichever character differs', async () => {
    await gateway.warm({ target: QUESTIONS });
    const own = basic('alice');
    for (let at = 'Basic '.length; at < own.length - 1; at += 1) {
      const other = own[at] === 'A' ? 'B' : 'A';
      const wrong = own.slice(0, at) + other + own.slice(at + 1);
      gateway.authenticate.mockClear();
      const { status } = await gateway.ask({ target: QUESTIONS, fields: [['Authorization', wrong]] });
      expect([status, gateway.authenticate.mock.calls.length], wrong).toEqual([401, 1]);
    }
  });

  it('in another spelling is judged from the start', async () => {
    await gateway.warm({ target: QUESTIONS });
    const [scheme = '', text = ''] = basic('alice').split(' ');
    for (const spelled of [
      `${scheme.toLowerCase()} ${text}`,
      `${scheme}  ${text}`,
      `${scheme} ${text.replace('=', '')}`,
    ]) {
      gateway.authenticate.mockClear();
      await gateway.ask({ target: QUESTIONS, fields: [['Authorization', spelled]] });
      expect(gateway.authenticate).toHaveBeenCalledTimes(1);
    }
  });

  it('is verified again when its time is over, although the page is still fresh', async () => {
    await gateway.warm({ target: QUESTIONS });
    clock.advance(59);
    fake.handler = knowing(telling, errorText(401, 'Bad credentials'));
    await gateway.warm({ target: QUESTIONS });
    clock.advance(1);
    await refused({ target: QUESTIONS });
    fake.handler = knowing(telling);
    expect((await gateway.warm({ target: QUESTIONS })).fields['cache-status']).toContain('hit');
  });

  it('that the upstream has refused meanwhile is forgotten at once, for pages in memory too', async () => {
    await gateway.warm({ target: QUESTIONS });
    fake.handler = ({ path }) => (path.includes('question') ? errorText(401, 'Bad credentials') : errorText(401, 'No'));
    const other = await gateway.ask({ target: `${QUESTIONS}?q=never-asked` });
    expect(other.status).toBe(401);
    await refused({ target: QUESTIONS });
  });

  it('that is verified for one name does not open the pages of another', async () => {
    await gateway.warm({ target: QUESTIONS });
    await gateway.warm({ target: QUESTIONS, user: 'bob' });
    const heard = await gateway.fast(() => gateway.ask({ target: QUESTIONS, user: 'bob' }));
    expect(heard.text).toContain('of bob for');
    await gateway.ask({ target: QUESTIONS, user: null }).then(({ status }) => expect(status).toBe(401));
  });
});

describe('a permission', () => {
  let fake: FakeUpstream;
  let clock: TestClock;
  let gateway: Watched;
  beforeAll(async () => {
    fake = await startFakeUpstream(telling);
    clock = createTestClock();
    gateway = await watch({ upstream: fake, clock, config: SHARED });
  });
  afterEach(() => {
    fake.handler = telling;
  });

  it('is asked for of each caller, also where another one has just had the page from memory, on one connection', async () => {
    for (const user of ['admin', 'bob', 'guest']) await gateway.warm({ target: QUESTIONS, user });
    await gateway.warm({ target: IDEAS, user: 'admin' });
    const wire = open(gateway.url);
    const asked = fake.requests.length;
    await gateway.fast(async () => {
      for (let times = 0; times < 3; times += 1) {
        expect((await wire.ask({ target: IDEAS, user: 'admin' })).status).toBe(200);
        const denied = await wire.ask({ target: IDEAS, user: 'guest' });
        expect([denied.status, jsonOf(denied)['code']]).toEqual([403, 'permission_denied']);
        expect(denied.text).not.toContain(' for ');
        expect((await wire.ask({ target: IDEAS, user: 'bob' })).text).toContain('of admin for');
      }
    });
    expect(fake.requests).toHaveLength(asked);
  });

  it('that the upstream takes back takes the page back too, once the upstream has said so', async () => {
    const target = `${QUESTIONS}?q=taken`;
    await gateway.warm({ target });
    clock.advance(31);
    fake.handler = () => errorText(403, PERMISSION_HTML);
    const { cache } = gateway.gateway.services;
    const { entries } = cache.stats();
    await gateway.fast(async () => {
      const stale = await gateway.ask({ target });
      expect([stale.status, stale.fields['cache-status']]).toEqual([200, 'portico; hit; ttl=-1']);
      await until(() => cache.stats().entries < entries);
      const denied = await gateway.ask({ target });
      expect([denied.status, jsonOf(denied)['code']]).toEqual([403, 'upstream_permission_denied']);
      expect(denied.text).not.toContain(' for ');
    });
  });

  it('never mixes the pages of callers on one connection', async () => {
    const names = ['alice', 'bob', 'admin', 'moderator'];
    for (const user of names) await gateway.warm({ target: QUESTIONS, user });
    const wire = open(gateway.url);
    await gateway.fast(() =>
      check(
        asyncProperty(constantFrom(...names), constantFrom(undefined, 'gzip'), async (user, encoding) => {
          const fields: Field[] = encoding === undefined ? [] : [['Accept-Encoding', encoding]];
          const heard = await wire.ask({ target: QUESTIONS, user, fields });
          const text = heard.fields['content-encoding'] === 'gzip' ? gunzipSync(heard.body).toString() : heard.text;
          expect(text).toContain(`of ${user} for`);
        }),
        { numRuns: 60 },
      ),
    );
  });

  it('lets one caller have the private fields and not the other, and never compresses what is left of them', async () => {
    for (const user of ['alice', 'bob']) await gateway.warm({ target: COMMENTS, user });
    const fields: Field[] = [['Accept-Encoding', 'gzip']];
    const whole = await gateway.gzipped(COMMENTS);
    expect(gunzipSync(whole.body).toString()).toContain('recipients');
    await gateway.fast(async () => {
      for (const condition of [undefined, whole.fields['etag']]) {
        const matching: Field[] = condition === undefined ? [] : [['If-None-Match', condition]];
        const left = await gateway.ask({ target: COMMENTS, user: 'bob', fields: [...fields, ...matching] });
        expect([left.status, left.fields['content-encoding']]).toEqual([200, undefined]);
        expect(left.text).not.toContain('recipients');
        expect(left.fields).toMatchObject({ vary: 'Accept-Encoding', 'portico-redacted': 'visibility, recipients' });
        expect(left.fields['etag']).not.toBe(whole.fields['etag']);
      }
    });
  });
});

describe('a page that is asked for again', () => {
  let fake: FakeUpstream;
  let gateway: Watched;
  beforeAll(async () => {
    fake = await startFakeUpstream(telling);
    const operations = { listQuestions: { checks: { responses: 'enforce' } }, listIdeas: publicly };
    gateway = await watch({
      upstream: fake,
      clock: createTestClock(),
      config: { operations, cache: { sampleShared: 0 } },
    });
  });
  afterEach(() => {
    fake.handler = telling;
  });

  const forget = () => gateway.admin('/cache/purge', { method: 'POST', body: { all: true } });

  it('is gone after a write that may have changed it', async () => {
    const { text } = await gateway.warm({ target: QUESTIONS });
    fake.handler = (request) =>
      request.method === 'GET' ? listNamed('listQuestions', 'after the write') : exampleAnswer(request);
    const written = await gateway.ask({
      target: WRITE,
      method: 'PUT',
      user: 'moderator',
      fields: [['Content-Length', '0']],
    });
    expect(written.status).toBe(200);
    const later = await gateway.fast(() => gateway.ask({ target: QUESTIONS }));
    expect(later.text).not.toBe(text);
    expect(later.text).toContain('after the write');
    expect(later.fields['cache-status']).toBe('portico; fwd=miss; stored');
  });

  it('is refused beyond the page count when that has shrunk since, although it is in memory', async () => {
    await gateway.warm(shrinking(5));
    fake.handler = () => listNamed('listQuestions', 'short', { pageCount: 3 });
    expect((await gateway.ask(shrinking(2))).status).toBe(200);
    const asked = fake.requests.length;
    const beyond = await gateway.fast(() => gateway.ask(shrinking(5)));
    expect(answerOf(beyond)).toEqual([400, 'page_out_of_bounds']);
    expect(beyond.text).toBe(
      (await gateway.ask({ ...shrinking(5), fields: [LONG_WAY] })).text.replace(/"requestId":"[^"]*"/, (id) =>
        beyond.text.includes(id) ? id : (/"requestId":"[^"]*"/.exec(beyond.text)?.[0] ?? ''),
      ),
    );
    expect(fake.requests).toHaveLength(asked);
  });

  it.each([
    ['page=2&pageSizd=15', 'unknown_parameter'],
    ['page=2&pageSize=15&page=2', 'repeated_parameter'],
    ['page=-&pageSize=15', 'invalid_parameter'],
    ['page=2&pageSize=x5', 'invalid_parameter'],
    ['page=2&pageSize=15&a', 'unknown_parameter'],
    ['page=2&pageSize=150', 'page_size_out_of_bounds'],
    ['page=2&PageSize=15', 'unknown_parameter'],
  ])('is not taken for another one that differs by a little: %s is %s', async (query, code) => {
    await gateway.warm({ target: `${QUESTIONS}?page=2&pageSize=15` });
    for (const fields of [[], [], [LONG_WAY]])
      expect(answerOf(await gateway.ask({ target: `${QUESTIONS}?${query}`, fields }))).toEqual([400, code]);
  });

  it('is not taken for one of another path, fragment or method', async () => {
    await gateway.warm({ target: QUESTIONS });
    for (const target of [`${QUESTIONS}/`, QUESTIONS.replace('v2', 'V2'), QUESTIONS.replace('question', 'questions')])
      expect(answerOf(await gateway.ask({ target }))).toEqual([404, 'not_in_contract']);
    expect(answerOf(await gateway.ask({ target: QUESTIONS, method: 'DELETE' }))).toEqual([405, 'method_not_allowed']);
  });

  it('with a wrong parameter is never remembered, however often it is asked for', async () => {
    const target = `${QUESTIONS}?nothing=known`;
    for (let times = 0; times < 4; times += 1) {
      gateway.authenticate.mockClear();
      expect((await gateway.ask({ target })).status).toBe(400);
      expect(gateway.authenticate).toHaveBeenCalledTimes(1);
    }
  });

  it('and has left memory is asked of the upstream as it was the first time', async () => {
    const target = `${QUESTIONS}?page=1&q=a%20b&pageSize=15`;
    await forget();
    fake.requests.length = 0;
    await gateway.warm({ target });
    await forget();
    const again = await gateway.fast(() => gateway.ask({ target }));
    expect(again.fields['cache-status']).toBe('portico; fwd=miss; stored');
    const [first, second] = fake.requests;
    expect(fake.requests).toHaveLength(2);
    expect(second?.target).toBe(`${QUESTIONS}?q=a%20b&pageSize=15`);
    expect(lasting(second)).toEqual(lasting(first));
  });

  it('and has left memory is judged by its own parameters', async () => {
    const target = `${QUESTIONS}?spaceId=8`;
    fake.handler = () => inSpace(8);
    await gateway.warm({ target });
    await forget();
    fake.handler = () => inSpace(9);
    const wrong = await gateway.fast(() => gateway.ask({ target }));
    expect(answerOf(wrong)).toEqual([502, 'upstream_invalid_response']);
    expect(wrong.text).toContain('containerIds');
    fake.handler = () => inSpace(8);
    expect((await gateway.fast(() => gateway.ask({ target }))).status).toBe(200);
  });

  it.each([
    ['fails', () => ({ status: 500, json: { error: 'no' } }), 502],
    ['breaks the connection', (_request, response) => void response.destroy(), 502],
    ['answers what is no JSON', () => ({ body: '<p>', headers: { 'Content-Type': 'text/html' } }), 502],
    ['does not know the page', () => ({ status: 404, json: { error: 'gone' } }), 404],
  ] satisfies [string, FakeHandler, number][])(
    'and has left memory gets the one body of errors when the upstream %s',
    async (_what, handler, status) => {
      const target = `${QUESTIONS}?q=fails`;
      await gateway.warm({ target });
      await forget();
      fake.handler = handler;
      for (const type of ['application/json', 'application/problem+json']) {
        const marked = gateway.log.length;
        const fast = await gateway.fast(() => gateway.ask({ target, fields: [['Accept', type]] }));
        const long = await gateway.ask({ target, fields: [['Accept', type], LONG_WAY] });
        await until(() => gateway.log.length >= marked + 2);
        const lines = gateway.log.slice(marked).map((line) => JSON.parse(line) as Record<string, unknown>);
        const plain = ({ raw, text, fields: { 'x-request-id': id = '', date = '' } }: Heard) =>
          [...raw, text].map((one) => one.replaceAll(id, 'ID').replaceAll(date, 'DATE'));
        expect(fast.status).toBe(status);
        expect(fast.fields['content-type']).toContain(type);
        expect(plain(fast)).toEqual(plain(long));
        const [first, second] = lines.map((line) => {
          const upstream = { ...(line['upstream'] as object), requestId: '' };
          return { ...line, upstream, requestId: '', traceId: '' };
        });
        expect(lines).toHaveLength(2);
        expect(JSON.stringify(first)).toBe(JSON.stringify(second));
        expect(lines[0]?.['requestId']).toBe(fast.fields['x-request-id']);
      }
    },
  );

  it('by a client that leaves is recorded once without a status, and others who wait for it are served', async () => {
    const target = `${QUESTIONS}?q=leaves`;
    await gateway.warm({ target });
    await forget();
    const gate = Promise.withResolvers<undefined>();
    fake.handler = async (request, response) => {
      await gate.promise;
      return telling(request, response);
    };
    const asked = fake.requests.length;
    const marked = gateway.log.length;
    await gateway.fast(async () => {
      const [leaving, staying] = [open(gateway.url), open(gateway.url)];
      leaving.send(textOf({ target, fields: [['X-Request-Id', 'leaving']] }));
      await fake.received(asked + 1);
      staying.send(textOf({ target, fields: [['X-Request-Id', 'staying']] }));
      leaving.close();
      expect(await gateway.lineOf('leaving')).toMatchObject({ status: 0, operation: 'listQuestions', cache: 'miss' });
      gate.resolve(undefined);
      expect((await staying.answer()).status).toBe(200);
      expect(await gateway.lineOf('staying')).toMatchObject({ status: 200, cache: 'coalesced' });
    });
    expect(fake.requests).toHaveLength(asked + 1);
    await gateway.fast(() => gateway.ask({ target }));
    await until(() => gateway.log.length >= marked + 3);
    const ids = gateway.log.slice(marked).map((line) => (JSON.parse(line) as Record<string, unknown>)['requestId']);
    expect(ids.filter((id) => id === 'leaving')).toHaveLength(1);
    expect(ids).toHaveLength(3);
  });

  it('is answered in order, each to its own caller, where many ask at once on one connection', async () => {
    for (const user of ['alice', 'bob', 'guest', 'admin']) await gateway.warm({ target: QUESTIONS, user });
    await gateway.warm({ target: IDEAS, user: 'admin' });
    const asks: (Asked & { readonly expected: string })[] = [
      { target: QUESTIONS, user: 'alice', expected: '200 of alice' },
      { target: IDEAS, user: 'guest', expected: '403' },
      { target: QUESTIONS, user: 'bob', expected: '200 of bob' },
      { target: QUESTIONS, fields: [['Authorization', basic('bob', 'alice')]], expected: '401' },
      { target: IDEAS, user: 'alice', expected: '200 of admin' },
      { target: `${QUESTIONS}?q=not-asked-before`, user: 'alice', expected: '200 of alice' },
      { target: QUESTIONS, user: null, expected: '401' },
      { target: QUESTIONS, user: 'admin', expected: '200 of admin' },
      { target: QUESTIONS, user: 'alice', fields: [['If-None-Match', '*']], expected: '304' },
      { target: QUESTIONS, user: 'guest', expected: '200 of guest' },
    ];
    const marked = gateway.log.length;
    const wire = open(gateway.url);
    wire.send(asks.map((asked) => textOf(asked)).join(''));
    const heard: string[] = [];
    while (heard.length < asks.length) {
      const { status, text } = await wire.answer();
      heard.push(`${status}${/of \w+/.exec(status === 200 ? text : '')?.[0].replace(/^/, ' ') ?? ''}`);
    }
    expect(heard).toEqual(asks.map(({ expected }) => expected));
    await until(() => gateway.log.length >= marked + asks.length);
    const statuses = gateway.log.slice(marked).map((line) => (JSON.parse(line) as Record<string, unknown>)['status']);
    expect(statuses.map(String).toSorted()).toEqual(asks.map(({ expected }) => expected.slice(0, 3)).toSorted());
  });
});

describe('a request past the contract', () => {
  const OPEN = '/services/v2/execution.json';
  const GUARDED = '/services/v2/revision/7.json';
  let upstream: FakeUpstream;
  let gateway: Watched;

  beforeAll(async () => {
    upstream = await startFakeUpstream(({ target, user, headers }) => ({
      json: { target, user, cookie: headers.cookie ?? 'none' },
    }));
    const allow = [
      { method: 'GET', path: OPEN },
      { method: 'GET', path: '/services/v2/revision/{id}.json', permission: 'View analytics' },
    ];
    gateway = await watch({ upstream, config: { undocumented: { allow } } });
  });

  it('is recognised too, and nothing of its answer, its counts and its line tells', async () => {
    await gateway.warm({ target: `${OPEN}?a=1` });
    const seen = async (fields: readonly Field[]) => {
      const before = gateway.log.length;
      const heard = await gateway.ask({
        target: `${OPEN}?a=1`,
        fields: [['X-Request-Id', 'same'], ...right('alice'), ...fields],
      });
      await until(() => gateway.log.length > before);
      const { time: _time, seconds: _seconds, traceId: _traceId, upstream: asked, ...line } = lastLine(gateway);
      const raw = heard.raw.filter((text, at) => text !== 'Date' && heard.raw[at - 1] !== 'Date');
      return { status: heard.status, text: heard.text, raw, line, asked: { ...(asked as object), seconds: 0 } };
    };
    const short = await gateway.fast(() => seen([]));
    gateway.authenticate.mockClear();
    expect(short).toEqual(await seen([LONG_WAY]));
    expect(gateway.authenticate).toHaveBeenCalledTimes(1);
    expect(short).toMatchObject({ status: 200, line: { route: 'passthrough', operation: 'undocumented' } });
  });

  it('is asked for its permission each time', async () => {
    await gateway.warm({ target: GUARDED, user: 'admin' });
    await gateway.warm({ target: OPEN, user: 'bob' });
    const answers = await gateway.fast(async () => [
      await gateway.ask({ target: GUARDED, user: 'bob' }),
      await gateway.ask({ target: GUARDED, user: 'admin' }),
      await gateway.ask({ target: GUARDED, user: 'bob' }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([403, 200, 403]);
  });

  it('goes the long way with a cookie or a token, which may be another credential', async () => {
    await gateway.warm({ target: OPEN });
    for (const field of [
      ['Cookie', 'session=1'],
      ['X-Auth-Token', 't'],
    ] as const) {
      gateway.authenticate.mockClear();
      const heard = await gateway.ask({ target: OPEN, fields: [...right('alice'), field] });
      expect(heard.status).toBe(200);
      expect(gateway.authenticate).toHaveBeenCalledTimes(1);
    }
  });

  it('travels with the credential of its own caller', async () => {
    await gateway.warm({ target: OPEN, user: 'alice' });
    await gateway.warm({ target: OPEN, user: 'bob' });
    const wire = open(gateway.url);
    const asked = async (user: string) => jsonOf(await wire.ask({ target: OPEN, user }))['user'];
    const users = await gateway.fast(async () => [await asked('alice'), await asked('bob'), await asked('alice')]);
    expect(users).toEqual(['alice', 'bob', 'alice']);
  });

  it('that the upstream breaks off gets the one error body', async () => {
    await gateway.warm({ target: OPEN });
    const answering = upstream.handler;
    upstream.handler = (_request, response) => void response.destroy();
    const heard = await gateway.fast(() => gateway.ask({ target: OPEN }));
    upstream.handler = answering;
    expect([heard.status, jsonOf(heard)['code']]).toEqual([502, 'upstream_reset']);
  });
});

describe('what clients are told of addresses', () => {
  it('the public base path is part of what is recognised, and no part of what the upstream is asked', async () => {
    const fake = await startFakeUpstream(telling);
    const gateway = await watch({ upstream: fake, clock: createTestClock(), config: { publicBasePath: '/qa' } });
    const target = `${QUESTIONS}?page=2`;
    await gateway.warm({ target: `/qa${target}` });
    await gateway.admin('/cache/purge', { method: 'POST', body: { all: true } });
    const again = await gateway.fast(() => gateway.ask({ target: `/qa${target}` }));
    expect(again.fields['cache-status']).toBe('portico; fwd=miss; stored');
    expect(fake.requests.map((request) => request.target)).toEqual([target, target]);
    for (const other of [target, `/qb${target}`, `/qa/qa${target}`, `//qa${target}`])
      expect((await gateway.ask({ target: other })).status).not.toBe(200);
  });

  it('each client gets its own address in the place of the legacy one', async () => {
    const fake = await startFakeUpstream(() => listNamed('listQuestions', `see ${fake.url}/answer`));
    const gateway = await watch({ upstream: fake, clock: createTestClock(), config: { rewriteUrls: true } });
    await gateway.warm({ target: QUESTIONS });
    await gateway.fast(async () => {
      const tags = new Set<string | undefined>();
      for (const host of ['one.example.org', 'two.example.org', 'one.example.org']) {
        const fields: Field[] = [
          ['Host', host],
          ['Accept-Encoding', 'gzip'],
        ];
        const heard = await gateway.ask({ target: QUESTIONS, fields });
        expect(heard.text).toContain(`see http://${host}/answer`);
        expect(heard.text).not.toContain(fake.url);
        tags.add(heard.fields['etag']);
      }
      expect(tags.size).toBe(2);
    });
  });
});

describe('the gzip form of a page', () => {
  let gateway: Watched;
  beforeAll(async () => {
    const upstream = await startFakeUpstream(telling);
    gateway = await watch({ upstream, clock: createTestClock(), config: SHARED });
  });

  const GZIP: Field = ['Accept-Encoding', 'gzip'];
  const gzipped = (target: string) => gateway.gzipped(target);

  it('is sent once it is made, and the page as it is until then', async () => {
    const target = `${QUESTIONS}?q=form`;
    const miss = await gateway.ask({ target, fields: [GZIP] });
    const hit = await gateway.ask({ target, fields: [GZIP] });
    const form = await gzipped(target);
    const plain = await gateway.ask({ target });
    for (const heard of [miss, hit, plain])
      expect([heard.fields['content-encoding'], heard.text]).toEqual([undefined, miss.text]);
    expect(gunzipSync(form.body).toString()).toBe(miss.text);
    expect(form.body.length).toBeLessThan(miss.body.length);
    expect(form.fields['content-length']).toBe(String(form.body.length));
    expect(form.fields['etag']).not.toBe(plain.fields['etag']);
    expect([miss, hit, plain, form].map(({ fields }) => fields['vary'])).toEqual(
      Array.from({ length: 4 }, () => 'Accept-Encoding'),
    );
  });

  it('has a tag of its own, and a client that has either form is told so', async () => {
    const target = `${QUESTIONS}?q=tags`;
    const form = (await gzipped(target)).fields['etag'] ?? '';
    const plain = (await gateway.ask({ target })).fields['etag'] ?? '';
    expect(new Set([form, plain]).size).toBe(2);
    for (const encoding of ['gzip', 'identity'])
      for (const tag of [form, plain, `W/${form}`, `"other", ${plain}`]) {
        const fields: Field[] = [
          ['Accept-Encoding', encoding],
          ['If-None-Match', tag],
        ];
        const heard = await gateway.fast(() => gateway.ask({ target, fields }));
        expect([heard.status, heard.text, heard.fields['vary']]).toEqual([304, '', 'Accept-Encoding']);
        expect(tag).toContain(heard.fields['etag'] ?? 'none');
        expect(heard.fields).not.toHaveProperty('content-encoding');
      }
  });

  it('is sent to HEAD as its fields alone', async () => {
    const target = `${QUESTIONS}?q=head`;
    const form = await gzipped(target);
    const head = await gateway.ask({ target, method: 'HEAD', fields: [GZIP] });
    const { date: _date, 'x-request-id': _id, ...fields } = head.fields;
    expect(form.fields).toMatchObject(fields);
    expect(fields['content-encoding']).toBe('gzip');
  });

  it('goes to nobody who does not take it', async () => {
    const target = `${QUESTIONS}?q=weights`;
    await gzipped(target);
    for (const encoding of ['gzip;q=0', 'identity', 'br', 'gzip;q=0, *', '*;q=0', '']) {
      const heard = await gateway.ask({ target, fields: [['Accept-Encoding', encoding]] });
      expect([heard.fields['content-encoding'], heard.text.length > 1000], encoding).toEqual([undefined, true]);
    }
    for (const encoding of ['*', 'br, gzip;q=0.1', 'x-gzip']) {
      const heard = await gateway.ask({ target, fields: [['Accept-Encoding', encoding]] });
      expect(heard.fields['content-encoding'], encoding).toBe('gzip');
    }
  });

  it('is counted with the page and goes with it', async () => {
    const { cache } = gateway.gateway.services;
    const target = `${QUESTIONS}?q=counted`;
    await gateway.warm({ target });
    const before = cache.stats();
    const form = await gzipped(target);
    expect(cache.stats()).toEqual({ ...before, bytes: before.bytes + form.body.length });
    await gateway.admin('/cache/purge', { method: 'POST', body: { all: true } });
    expect(cache.stats()).toEqual({ entries: 0, bytes: 0, tags: 0 });
    expect((await gateway.ask({ target, fields: [GZIP] })).fields['content-encoding']).toBeUndefined();
  });

  it('is not made where the configuration says so', async () => {
    const plain = await watch({
      upstream: await startFakeUpstream(telling),
      clock: createTestClock(),
      config: { cache: { gzip: false } },
    });
    await plain.warm({ target: QUESTIONS });
    const { bytes } = plain.gateway.services.cache.stats();
    for (let times = 0; times < 20; times += 1)
      expect((await plain.ask({ target: QUESTIONS, fields: [GZIP] })).fields['content-encoding']).toBeUndefined();
    expect(plain.gateway.services.cache.stats().bytes).toBe(bytes);
  });
});
