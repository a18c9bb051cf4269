import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { type Arbitrary, array, assert as check, asyncProperty, constantFrom, record } from 'fast-check';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Targets, TargetText } from '../../src/engine/pipeline/targets.ts';
import { basic } from '../builders/call.ts';
import { exampleOf } from '../builders/contract-examples.ts';
import { errorText, PERMISSION_HTML } from '../builders/error-shapes.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { type FakeHandler, type FakeRequest, type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { knowing } from '../builders/knowing-upstream.ts';
import { operationOf, targetOf } from '../builders/operations.ts';
import { propertyRuns } from '../builders/property-runs.ts';
import { createTestClock, type TestClock } from '../builders/test-clock.ts';
import { startTestGateway, type TestGateway, type TestGatewayOptions } from '../builders/test-gateway.ts';
import { until } from '../builders/until.ts';

/**
 * The gateway remembers the meaning of each request target, keyed by the target's text. This may affect only response
 * times. In all other respects, a gateway that forgets everything before each request must behave the same way.
 */

const QUESTIONS = targetOf(operationOf('listQuestions'));
const IDEAS = targetOf(operationOf('listIdeas'));
const COMMENTS = targetOf(operationOf('listAnswerComments'));
const WRITE = targetOf(operationOf('cancelWiki'));
type Field = readonly [name: string, value: string];

interface Asked {
  readonly target: string;
  readonly method?: string;
  /** The name, which is also the password. If null, no credential is sent. */
  readonly user?: string | null;
  /** Additional headers. An `Authorization` header replaces the credential of `user`. */
  readonly fields?: readonly Field[];
}

interface Heard {
  readonly status: number;
  /** Alternating header names and values. */
  readonly raw: readonly string[];
  readonly fields: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly text: string;
}

/** A connection that sends strings exactly as given and returns the responses in order. */
interface Wire {
  send(text: string): void;
  receive(method?: string): Promise<Heard>;
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
    async receive(method = 'GET') {
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
      return wire.receive(asked.method);
    },
    close() {
      wires.delete(wire);
      socket.destroy();
    },
  };
  wires.add(wire);
  return wire;
}

/** Returns the text of a request. If no `Host` header is given, one is added. */
function textOf({ target, method = 'GET', user = 'alice', fields = [] }: Asked): string {
  const has = (name: string) => fields.some((field) => field[0].toLowerCase() === name);
  const all: Field[] = [
    ...(has('host') ? [] : [['Host', 'qa.example.org'] as const]),
    ...(user === null || has('authorization') ? [] : [['Authorization', basic(user)] as const]),
    ...fields,
  ];
  return [`${method} ${target} HTTP/1.1`, ...all.map(([name, value]) => `${name}: ${value}`), '', ''].join('\r\n');
}

/** A gateway whose memo the test can inspect. */
interface Watched extends TestGateway {
  readonly targets: Targets;
  /** Returns whether a target can be looked up without being decoded. */
  isRemembered(rawTarget: string): boolean;
  /** Sends one request on a new connection. */
  ask(asked: Asked): Promise<Heard>;
  /** Repeats a request until the target is remembered and this caller receives the page from the cache. */
  warm(asked: Asked): Promise<Heard>;
  /** Repeats a request until the page exists in gzip form. */
  gzipped(target: string): Promise<Heard>;
}

async function watch(options: TestGatewayOptions): Promise<Watched> {
  const gateway = await startTestGateway(options);
  const { targets } = gateway.gateway.gateway;
  const ask = async (asked: Asked) => {
    const wire = open(gateway.url);
    const heard = await wire.ask(asked);
    wire.close();
    return heard;
  };
  const isRemembered = (rawTarget: string) => {
    const unread = {
      method: 'GET',
      rawTarget,
      get path(): string {
        throw new Error('was read');
      },
    };
    try {
      return targets.resolve(unread as TargetText) !== undefined;
    } catch {
      return false;
    }
  };
  return Object.assign(gateway, {
    targets,
    isRemembered,
    ask,
    async warm(asked: Asked) {
      for (let times = 0; times < 4; times += 1) {
        const before = isRemembered(asked.target);
        const heard = await ask(asked);
        if (before && /^portico; hit|^$/.test(heard.fields['cache-status'] ?? '')) return heard;
      }
      throw new Error(`${asked.target} is not remembered`);
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

const jsonOf = ({ text }: Heard) => JSON.parse(text) as Record<string, unknown>;

/** Returns a list for an operation, with enough text to make compression worthwhile. */
function listNamed(id: string, name: string, more: object = {}): { readonly json: unknown } {
  return {
    json: { ...exampleOf(id), pageCount: 9, totalCount: 130, name: `${name}<${'long '.repeat(300)}>`, ...more },
  };
}

/** Returns responses that name the caller for whom they were fetched. Their comments have private fields. */
const telling: FakeHandler = (request) => {
  const { path, user = 'nobody', target } = request;
  if (path.endsWith(QUESTIONS)) return listNamed('listQuestions', `of ${user} for ${target}`);
  if (path.endsWith(IDEAS)) return listNamed('listIdeas', `of ${user} for ${target}`);
  if (!path.endsWith(COMMENTS)) return exampleResponse(request);
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
const statusAndCode = ({ status, text }: Heard) => [status, (JSON.parse(text) as { code?: string }).code];
const shrinking = (number: number): Asked => ({ target: `${QUESTIONS}?q=shrinks&page=${number}` });

/** Returns all header names and values except those that differ for every request. */
const lasting = ({ rawHeaders = [] as readonly string[] } = {}) =>
  rawHeaders.filter((_text, at) => at % 2 === 0 || !/^traceparent|^x-request-id/i.test(rawHeaders[at - 1] ?? ''));

/** Returns a page whose items all belong to one space. */
const inSpace = (space: number) => {
  const { json } = listNamed('listQuestions', `in ${space}`);
  const { list } = json as { list: Record<string, unknown>[] };
  return {
    json: { ...(json as object), list: list.map((item) => Object.assign(item, { containerIds: [space] })) },
  };
};

/** How the upstream can behave in a step. */
const MOODS = {
  well: telling,
  fails: () => ({ status: 500, json: { error: 'no' } }),
  shrinks: () => listNamed('listQuestions', 'short', { pageCount: 3 }),
  drifts: (request: FakeRequest, response: ServerResponse) =>
    request.path.endsWith(QUESTIONS)
      ? listNamed('listQuestions', 'drift', { pageCount: 'many' })
      : telling(request, response),
} satisfies Record<string, FakeHandler>;

const OPEN = '/services/v2/execution.json';
const GUARDED = '/services/v2/revision/7.json';
const ALLOW = [
  { method: 'GET', path: OPEN },
  { method: 'GET', path: '/services/v2/revision/{id}.json', permission: 'View analytics' },
];

describe.each([
  ['strict', '', { checks: {} }],
  [
    'report',
    '/qa',
    { checks: { requests: 'report', undocumented: 'report', permissions: 'report', responses: 'report' } },
  ],
  ['observe', '', { mode: 'observe' }],
])('a gateway with the memo and one without it, in %s', (_name, basePath, config) => {
  const HOT = [`${QUESTIONS}?page=2&pageSize=15`, QUESTIONS, `${QUESTIONS}?page=2`, IDEAS, COMMENTS, OPEN, GUARDED];
  const ODD = ['?page=0', '?page=-', '?page=2&page=2', '?nothing=known', '?pageSize=150', '?page=2&', '?q=%FF'];
  const TARGETS = [
    ...HOT,
    ...HOT,
    ...HOT,
    ...['?q=a%20b', '?page=1', '?page=5', '?spaceId=8', ...ODD].map((query) => QUESTIONS + query),
    `${IDEAS}?page=2`,
    targetOf(operationOf('getComment')),
    `${OPEN}?a=1`,
    '/services/v2/unknown.json',
    `${QUESTIONS}/`,
    QUESTIONS.replace('v2', 'V2'),
    '/services/v2/../v2/question.json',
    `http://qa.example.org${QUESTIONS}`,
    `${QUESTIONS}?q=${'x'.repeat(9000)}`,
  ].map((target) => (target.startsWith('/') ? basePath + target : target.replace('.org', `.org${basePath}`)));

  interface Side {
    readonly gateway: Watched;
    readonly upstream: FakeUpstream;
    readonly clock: TestClock;
    /** The latest entity tag for each target and caller. */
    readonly tags: Map<string, string>;
  }
  let sides: readonly [remembering: Side, forgetting: Side];

  beforeAll(async () => {
    const side = async (): Promise<Side> => {
      const upstream = await startFakeUpstream(telling);
      const clock = createTestClock();
      const gateway = await watch({
        upstream,
        clock,
        random: () => 0.999,
        config: {
          ...SHARED,
          publicBasePath: basePath,
          authentication: { anonymous: 'allow', failures: { limit: 1000 } },
          undocumented: { allow: ALLOW },
          levels: { demote: { minAnswers: 1_000_000 } },
          logging: { principalNames: true },
          ...config,
        },
      });
      return { gateway, upstream, clock, tags: new Map() };
    };
    sides = [await side(), await side()];
  });

  const credentials = {
    right: (name: string): readonly Field[] => [['Authorization', basic(name)]],
    none: () => [],
    wrong: (name: string): readonly Field[] => [['Authorization', basic(name, 'guessed')]],
    'in another spelling': (name: string): readonly Field[] => [
      ['authorization', basic(name).replace('Basic', ' basic ')],
    ],
    'without padding': (name: string): readonly Field[] => [['Authorization', basic(name).replaceAll('=', '')]],
    bearer: (): readonly Field[] => [['Authorization', 'Bearer x']],
    'with a cookie': (name: string): readonly Field[] => [
      ['Authorization', basic(name)],
      ['Cookie', 'session=1'],
    ],
    'with a token': (name: string): readonly Field[] => [
      ['X-Auth-Token', 't'],
      ['Authorization', basic(name)],
    ],
  };
  const mostlyRight = Array.from({ length: 8 }, () => 'right' as const);
  const request = record({
    target: constantFrom(...TARGETS),
    method: constantFrom('GET', 'GET', 'GET', 'GET', 'GET', 'GET', 'HEAD', 'PUT', 'DELETE'),
    name: constantFrom('alice', 'bob', 'guest', 'moderator', 'nobody'),
    credential: constantFrom(...mostlyRight, ...(Object.keys(credentials) as (keyof typeof credentials)[])),
    condition: constantFrom(undefined, undefined, undefined, '*', '"other"', 'own'),
    encoding: oneOf('Accept-Encoding', [], [], ['gzip'], ['br, gzip;q=0.5'], ['gzip;q=0'], ['gzip', 'br'], ['']),
    accept: oneOf('Accept', [], [], [], ['application/problem+json'], ['text/html']),
    requestId: oneOf(
      'X-Request-Id',
      [],
      [],
      [],
      ['mine-1'],
      ['not mine'],
      ['mine-1', 'mine-2'],
      [''],
      ['a'.repeat(129)],
    ),
    trace: oneOf('traceparent', [], [], [], [TRACE], ['00-0-0-00'], [TRACE, TRACE]),
    fresh: oneOf('Cache-Control', [], [], [], [], ['no-cache'], ['max-age=0']),
    host: oneOf('Host', ['qa.example.org'], ['qa.example.org'], ['qa.example.org'], ['other.example:8080']),
    connection: oneOf('Connection', [], ['close'], ['keep-alive']),
    seconds: constantFrom(0, 0, 0, 0, 0, 0, 1, 31, 400),
    mood: constantFrom(...(['well', 'well', 'well', 'well', 'well', 'fails', 'shrinks', 'drifts'] as const)),
    writes: constantFrom(false, false, false, false, false, false, true),
  });
  type Step = typeof request extends Arbitrary<infer T> ? T : never;

  function askedOf(step: Step, tag: string | undefined): Asked {
    const { target, method, name, condition } = step;
    if (step.writes)
      return { target: basePath + WRITE, method: 'PUT', user: 'moderator', fields: [['Content-Length', '0']] };
    const matching = condition === 'own' ? tag : condition;
    const fields: Field[] = [
      ...step.host,
      ...step.encoding,
      ...step.accept,
      ...step.requestId,
      ...credentials[step.credential](name),
      ...step.trace,
      ...step.fresh,
      ...step.connection,
      ...(matching === undefined ? [] : [['If-None-Match', matching] as const]),
    ];
    return { target, method, user: null, fields };
  }

  /** Returns everything visible about a request, except its ids and the time of day. */
  async function seen(side: Side, step: Step, forgetsFirst: boolean) {
    const { gateway, upstream, clock, tags } = side;
    const { services } = gateway.gateway;
    clock.advance(step.seconds);
    upstream.handler = MOODS[step.mood];
    const marked = gateway.log.length;
    const requested = upstream.requests.length;
    if (forgetsFirst) gateway.targets.clear();
    const remembered = gateway.isRemembered(step.target);
    const key = `${step.name} ${step.target}`;
    const heard = await gateway.ask(askedOf(step, tags.get(key)));
    await until(() => gateway.log.length > marked);
    // A request in flight may also come from a background refresh or comparison.
    await until(() => services.upstream.stats().inFlight === 0);
    for (let turns = 0; turns < 5; turns += 1) await turn();
    const { etag } = heard.fields;
    if (etag !== undefined) tags.set(key, etag);
    const id = heard.fields['x-request-id'] ?? '';
    const { host } = new URL(upstream.url);
    const plain = (text: string) => text.replaceAll(id, 'ID').replaceAll(host, 'UPSTREAM');
    const packed = heard.fields['content-encoding'] === 'gzip';
    const lines = gateway.log.slice(marked).map((line) => {
      const data = JSON.parse(line) as {
        time: string;
        traceId: string;
        spanId: string;
        upstream?: { requestId?: string };
      };
      data.time = '';
      data.spanId = '';
      if (data.traceId !== TRACE.slice(3, 35)) data.traceId = '';
      delete data.upstream?.requestId;
      return data;
    });
    return {
      remembered,
      packed,
      outcome: {
        status: heard.status,
        // Compression is ignored, because the gzip form may be ready earlier on one side than on the other.
        headers: heard.raw
          .map((text, at) => (heard.raw[at - 1] === 'Date' ? 'DATE' : plain(text)))
          .filter((_text, at, all) => !/^Content-(?:Encoding|Length)$/i.test(all[at - (at % 2)] ?? ''))
          .map((text) => text.replace('-gzip"', '"')),
        body: plain(packed ? gunzipSync(heard.body).toString() : heard.text),
        lines: JSON.stringify(lines).replaceAll(id, 'ID'),
        upstream: upstream.requests.slice(requested).map((one) => [one.method, one.target, lasting(one).map(plain)]),
      },
    };
  }

  /** Returns the lines of Portico's own metrics. Some metrics, such as byte counts, are omitted. */
  async function series({ gateway }: Side): Promise<readonly string[]> {
    const lines = (await gateway.gateway.services.metrics.exposition()).split('\n');
    // Some metrics differ: scrapes count themselves, and each side has its own upstream address.
    const own = /^portico_(?!scrape_|cache_bytes|configuration_info|upstream_address_)/;
    return lines.filter((line) => own.test(line));
  }

  it('behave the same after any sequence of requests', async () => {
    const [remembering, forgetting] = sides;
    let remembered = 0;
    const history = array(request, { minLength: 10, maxLength: 30 });
    await check(
      asyncProperty(history, async (steps) => {
        for (const step of steps) {
          const one = await seen(remembering, step, false);
          const other = await seen(forgetting, step, true);
          if (one.packed !== other.packed) delete (one.outcome as Partial<typeof one.outcome>).lines;
          expect(other.remembered).toBe(false);
          expect(other.outcome, JSON.stringify(step)).toMatchObject(one.outcome);
          if (one.remembered) remembered += 1;
        }
        expect(await series(remembering)).toEqual(await series(forgetting));
      }),
      { numRuns: propertyRuns(12), endOnFailure: true },
    );
    expect(remembered).toBeGreaterThan(10);
  });
});

describe('a draining gateway', () => {
  it('announces the end of the connection for remembered targets too', async () => {
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
    const halves = asks.map((asked) => {
      const text = textOf(asked);
      return { wire: open(gateway.url), rest: text.slice(-2), first: text.slice(0, -2) };
    });
    // The first request ensures that the gateway has accepted the connection, and the unfinished one keeps it open.
    for (const { wire, first } of halves) {
      await wire.ask({ target: QUESTIONS });
      wire.send(first);
    }
    await gateway.ask({ target: QUESTIONS });
    const closed = gateway.close();
    const heard: Heard[] = [];
    for (const { wire, rest } of halves) {
      wire.send(rest);
      heard.push(await wire.receive());
    }
    await closed;
    expect(heard.map(({ status, fields }) => [status, fields['connection']])).toEqual(
      [200, 304, 403, 200].map((status) => [status, 'close']),
    );
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

  it('with another password for the same name gets nothing, before and after a hit with the right one', async () => {
    await gateway.warm({ target: QUESTIONS });
    await refused({ target: QUESTIONS, fields: [['Authorization', basic('alice', 'alicf')]] });
    const { status } = await gateway.ask({ target: QUESTIONS });
    expect(status).toBe(200);
    await refused({ target: QUESTIONS, fields: [['Authorization', basic('alice', 'alicf')]] });
  });

  it('of equal length is a different one, whichever character differs', async () => {
    await gateway.warm({ target: QUESTIONS });
    const own = basic('alice');
    for (let at = 'Basic '.length; at < own.length - 1; at += 1) {
      const other = own[at] === 'A' ? 'B' : 'A';
      const wrong = own.slice(0, at) + other + own.slice(at + 1);
      const { status } = await gateway.ask({ target: QUESTIONS, fields: [['Authorization', wrong]] });
      expect(status, wrong).toBe(401);
    }
  });

  it('in another spelling is the same one', async () => {
    const { text: own } = await gateway.warm({ target: QUESTIONS });
    const [scheme = '', text = ''] = basic('alice').split(' ');
    for (const spelled of [
      `${scheme.toLowerCase()} ${text}`,
      `${scheme}  ${text}`,
      `${scheme} ${text.replace('=', '')}`,
    ]) {
      const heard = await gateway.ask({ target: QUESTIONS, fields: [['Authorization', spelled]] });
      expect([heard.status, heard.text]).toEqual([200, own]);
    }
  });

  it('is verified again when it expires, even if the page is still fresh', async () => {
    await gateway.warm({ target: QUESTIONS });
    clock.advance(59);
    fake.handler = knowing(telling, errorText(401, 'Bad credentials'));
    await gateway.warm({ target: QUESTIONS });
    clock.advance(1);
    await refused({ target: QUESTIONS });
    fake.handler = knowing(telling);
    expect((await gateway.warm({ target: QUESTIONS })).fields['cache-status']).toContain('hit');
  });

  it('that the upstream has since refused is forgotten immediately, even for pages in memory', async () => {
    await gateway.warm({ target: QUESTIONS });
    fake.handler = ({ path }) => (path.includes('question') ? errorText(401, 'Bad credentials') : errorText(401, 'No'));
    const other = await gateway.ask({ target: `${QUESTIONS}?q=never-asked` });
    expect(other.status).toBe(401);
    await refused({ target: QUESTIONS });
  });

  it("that is verified for one name gives no access to another's pages", async () => {
    await gateway.warm({ target: QUESTIONS });
    await gateway.warm({ target: QUESTIONS, user: 'bob' });
    const heard = await gateway.ask({ target: QUESTIONS, user: 'bob' });
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

  it('is required of each caller, even if another one on the same connection just got the page', async () => {
    for (const user of ['admin', 'bob', 'guest']) await gateway.warm({ target: QUESTIONS, user });
    await gateway.warm({ target: IDEAS, user: 'admin' });
    const wire = open(gateway.url);
    const asked = fake.requests.length;
    for (let times = 0; times < 3; times += 1) {
      expect((await wire.ask({ target: IDEAS, user: 'admin' })).status).toBe(200);
      const denied = await wire.ask({ target: IDEAS, user: 'guest' });
      expect([denied.status, jsonOf(denied)['code']]).toEqual([403, 'permission_denied']);
      expect(denied.text).not.toContain(' for ');
      expect((await wire.ask({ target: IDEAS, user: 'bob' })).text).toContain('of admin for');
    }
    expect(fake.requests).toHaveLength(asked);
  });

  it('that the upstream withdraws also withdraws the page once the upstream has refused it', async () => {
    const target = `${QUESTIONS}?q=taken`;
    await gateway.warm({ target });
    clock.advance(31);
    fake.handler = () => errorText(403, PERMISSION_HTML);
    const { cache } = gateway.gateway.services;
    const { entries } = cache.stats();
    const stale = await gateway.ask({ target });
    expect([stale.status, stale.fields['cache-status']]).toEqual([200, 'portico; hit; ttl=-1']);
    await until(() => cache.stats().entries < entries);
    const denied = await gateway.ask({ target });
    expect([denied.status, jsonOf(denied)['code']]).toEqual([403, 'upstream_permission_denied']);
    expect(denied.text).not.toContain(' for ');
  });

  it('never mixes the pages of callers on one connection', async () => {
    const names = ['alice', 'bob', 'admin', 'moderator'];
    for (const user of names) await gateway.warm({ target: QUESTIONS, user });
    const wire = open(gateway.url);
    await check(
      asyncProperty(constantFrom(...names), constantFrom(undefined, 'gzip'), async (user, encoding) => {
        const fields: Field[] = encoding === undefined ? [] : [['Accept-Encoding', encoding]];
        const heard = await wire.ask({ target: QUESTIONS, user, fields });
        const text = heard.fields['content-encoding'] === 'gzip' ? gunzipSync(heard.body).toString() : heard.text;
        expect(text).toContain(`of ${user} for`);
      }),
      { numRuns: 60 },
    );
  });

  it('shows one caller the private fields and not the other, and never compresses the redacted body', async () => {
    for (const user of ['alice', 'bob']) await gateway.warm({ target: COMMENTS, user });
    const fields: Field[] = [['Accept-Encoding', 'gzip']];
    const whole = await gateway.gzipped(COMMENTS);
    expect(gunzipSync(whole.body).toString()).toContain('recipients');
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

describe('a repeated request for a page', () => {
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

  it('does not find it after a write that may have changed it', async () => {
    const { text } = await gateway.warm({ target: QUESTIONS });
    fake.handler = (request) =>
      request.method === 'GET' ? listNamed('listQuestions', 'after the write') : exampleResponse(request);
    const written = await gateway.ask({
      target: WRITE,
      method: 'PUT',
      user: 'moderator',
      fields: [['Content-Length', '0']],
    });
    expect(written.status).toBe(200);
    const later = await gateway.ask({ target: QUESTIONS });
    expect(later.text).not.toBe(text);
    expect(later.text).toContain('after the write');
    expect(later.fields['cache-status']).toBe('portico; fwd=miss; stored');
  });

  it('is refused beyond the page count if that has since decreased, even if the page is in memory', async () => {
    await gateway.warm(shrinking(5));
    fake.handler = () => listNamed('listQuestions', 'short', { pageCount: 3 });
    expect((await gateway.ask(shrinking(2))).status).toBe(200);
    const asked = fake.requests.length;
    const beyond = await gateway.ask(shrinking(5));
    expect(statusAndCode(beyond)).toEqual([400, 'page_out_of_bounds']);
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
  ])('is not confused with one that differs slightly: %s is %s', async (query, code) => {
    await gateway.warm({ target: `${QUESTIONS}?page=2&pageSize=15` });
    for (let times = 0; times < 3; times += 1)
      expect(statusAndCode(await gateway.ask({ target: `${QUESTIONS}?${query}` }))).toEqual([400, code]);
  });

  it('is not confused with one for another path, fragment or method', async () => {
    await gateway.warm({ target: QUESTIONS });
    for (const target of [`${QUESTIONS}/`, QUESTIONS.replace('v2', 'V2'), QUESTIONS.replace('question', 'questions')])
      expect(statusAndCode(await gateway.ask({ target }))).toEqual([404, 'not_in_contract']);
    expect(statusAndCode(await gateway.ask({ target: QUESTIONS, method: 'DELETE' }))).toEqual([
      405,
      'method_not_allowed',
    ]);
  });

  // The attack: sending targets that are refused costs a client nothing. If refused targets were remembered, they would
  // displace targets requested by other callers.
  it('is never remembered with an invalid parameter, however often it is sent', async () => {
    const target = `${QUESTIONS}?nothing=known`;
    for (let times = 0; times < 4; times += 1) expect((await gateway.ask({ target })).status).toBe(400);
    expect(gateway.isRemembered(target)).toBe(false);
  });

  it('is sent upstream in the same form after the page has left memory', async () => {
    const target = `${QUESTIONS}?page=1&q=a%20b&pageSize=15`;
    await forget();
    fake.requests.length = 0;
    await gateway.warm({ target });
    await forget();
    const again = await gateway.ask({ target });
    expect(again.fields['cache-status']).toBe('portico; fwd=miss; stored');
    const [first, second] = fake.requests;
    expect(fake.requests).toHaveLength(2);
    expect(second?.target).toBe(`${QUESTIONS}?q=a%20b&pageSize=15`);
    expect(lasting(second)).toEqual(lasting(first));
  });

  it('is checked by its own parameters after the page has left memory', async () => {
    const target = `${QUESTIONS}?spaceId=8`;
    fake.handler = () => inSpace(8);
    await gateway.warm({ target });
    await forget();
    fake.handler = () => inSpace(9);
    const wrong = await gateway.ask({ target });
    expect(statusAndCode(wrong)).toEqual([502, 'upstream_invalid_response']);
    expect(wrong.text).toContain('containerIds');
    fake.handler = () => inSpace(8);
    expect((await gateway.ask({ target })).status).toBe(200);
  });

  it.each([
    ['fails', () => ({ status: 500, json: { error: 'no' } }), 502],
    ['breaks the connection', (_request, response) => void response.destroy(), 502],
    ['sends something other than JSON', () => ({ body: '<p>', headers: { 'Content-Type': 'text/html' } }), 502],
    ['does not know the page', () => ({ status: 404, json: { error: 'gone' } }), 404],
  ] satisfies [string, FakeHandler, number][])(
    'gets the usual error body after the page has left memory, if the upstream %s',
    async (_what, handler, status) => {
      const target = `${QUESTIONS}?q=fails`;
      await gateway.warm({ target });
      await forget();
      fake.handler = handler;
      for (const type of ['application/json', 'application/problem+json']) {
        const heard = await gateway.ask({ target, fields: [['Accept', type]] });
        expect(heard.status).toBe(status);
        expect(heard.fields['content-type']).toContain(type);
        const line = await gateway.lineOf(heard.fields['x-request-id'] ?? '');
        expect(line).toMatchObject({ status, operation: 'listQuestions', error: jsonOf(heard)['code'] });
      }
    },
  );

  it('is recorded once without a status if its client disconnects, and other waiting callers are served', async () => {
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
    const [leaving, staying] = [open(gateway.url), open(gateway.url)];
    leaving.send(textOf({ target, fields: [['X-Request-Id', 'leaving']] }));
    await fake.received(asked + 1);
    staying.send(textOf({ target, fields: [['X-Request-Id', 'staying']] }));
    leaving.close();
    expect(await gateway.lineOf('leaving')).toMatchObject({ status: 0, operation: 'listQuestions', cache: 'miss' });
    gate.resolve(undefined);
    expect((await staying.receive()).status).toBe(200);
    expect(await gateway.lineOf('staying')).toMatchObject({ status: 200, cache: 'coalesced' });
    expect(fake.requests).toHaveLength(asked + 1);
    await gateway.ask({ target });
    await until(() => gateway.log.length >= marked + 3);
    const ids = gateway.log.slice(marked).map((line) => (JSON.parse(line) as Record<string, unknown>)['requestId']);
    expect(ids.filter((id) => id === 'leaving')).toHaveLength(1);
    expect(ids).toHaveLength(3);
  });

  it('gets its response in order and for its own caller among many concurrent requests on one connection', async () => {
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
      const { status, text } = await wire.receive();
      heard.push(`${status}${/of \w+/.exec(status === 200 ? text : '')?.[0].replace(/^/, ' ') ?? ''}`);
    }
    expect(heard).toEqual(asks.map(({ expected }) => expected));
    await until(() => gateway.log.length >= marked + asks.length);
    const statuses = gateway.log.slice(marked).map((line) => (JSON.parse(line) as Record<string, unknown>)['status']);
    expect(statuses.map(String).toSorted()).toEqual(asks.map(({ expected }) => expected.slice(0, 3)).toSorted());
  });
});

describe('an undocumented request', () => {
  let upstream: FakeUpstream;
  let gateway: Watched;

  beforeAll(async () => {
    upstream = await startFakeUpstream(({ target, user, headers }) => ({
      json: { target, user, cookie: headers.cookie ?? 'none' },
    }));
    gateway = await watch({ upstream, config: { undocumented: { allow: ALLOW } } });
  });

  it('is remembered too', async () => {
    const target = `${OPEN}?a=1`;
    await gateway.warm({ target });
    const { fields, status } = await gateway.ask({ target });
    expect(status).toBe(200);
    const line = await gateway.lineOf(fields['x-request-id'] ?? '');
    expect(line).toMatchObject({ status: 200, route: 'passthrough', operation: 'undocumented', path: OPEN });
  });

  it('needs its permission each time', async () => {
    await gateway.warm({ target: GUARDED, user: 'admin' });
    await gateway.warm({ target: OPEN, user: 'bob' });
    const replies = [
      await gateway.ask({ target: GUARDED, user: 'bob' }),
      await gateway.ask({ target: GUARDED, user: 'admin' }),
      await gateway.ask({ target: GUARDED, user: 'bob' }),
    ];
    expect(replies.map(({ status }) => status)).toEqual([403, 200, 403]);
  });

  it('is forwarded with the cookie and token, which may be another credential', async () => {
    await gateway.warm({ target: OPEN });
    const fields: Field[] = [...right('alice'), ['Cookie', 'session=1'], ['X-Auth-Token', 't']];
    expect(jsonOf(await gateway.ask({ target: OPEN, fields }))).toMatchObject({ user: 'alice', cookie: 'session=1' });
    expect(jsonOf(await gateway.ask({ target: OPEN }))).toMatchObject({ user: 'alice', cookie: 'none' });
  });

  it("is forwarded with its own caller's credential", async () => {
    await gateway.warm({ target: OPEN, user: 'alice' });
    await gateway.warm({ target: OPEN, user: 'bob' });
    const wire = open(gateway.url);
    const asked = async (user: string) => jsonOf(await wire.ask({ target: OPEN, user }))['user'];
    const users = [await asked('alice'), await asked('bob'), await asked('alice')];
    expect(users).toEqual(['alice', 'bob', 'alice']);
  });

  it('gets the usual error body if the upstream breaks off', async () => {
    await gateway.warm({ target: OPEN });
    const usual = upstream.handler;
    upstream.handler = (_request, response) => void response.destroy();
    const heard = await gateway.ask({ target: OPEN });
    upstream.handler = usual;
    expect([heard.status, jsonOf(heard)['code']]).toEqual([502, 'upstream_reset']);
  });
});

describe('addresses in requests and responses', () => {
  it('include the public base path in remembered targets, but not upstream', async () => {
    const fake = await startFakeUpstream(telling);
    const gateway = await watch({ upstream: fake, clock: createTestClock(), config: { publicBasePath: '/qa' } });
    const target = `${QUESTIONS}?page=2`;
    await gateway.warm({ target: `/qa${target}` });
    await gateway.admin('/cache/purge', { method: 'POST', body: { all: true } });
    const again = await gateway.ask({ target: `/qa${target}` });
    expect(again.fields['cache-status']).toBe('portico; fwd=miss; stored');
    expect(fake.requests.map((request) => request.target)).toEqual([target, target]);
    for (const other of [target, `/qb${target}`, `/qa/qa${target}`, `//qa${target}`])
      expect((await gateway.ask({ target: other })).status).not.toBe(200);
  });

  it('are replaced by the address that each client uses', async () => {
    const fake = await startFakeUpstream(() => listNamed('listQuestions', `see ${fake.url}/answer`));
    const gateway = await watch({ upstream: fake, clock: createTestClock(), config: { rewriteUrls: true } });
    await gateway.warm({ target: QUESTIONS });
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

describe("a page's gzip form", () => {
  let gateway: Watched;
  beforeAll(async () => {
    const upstream = await startFakeUpstream(telling);
    gateway = await watch({ upstream, clock: createTestClock(), config: SHARED });
  });

  const GZIP: Field = ['Accept-Encoding', 'gzip'];
  const gzipped = (target: string) => gateway.gzipped(target);

  it('is sent once it exists; until then the uncompressed page is sent', async () => {
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

  it('has its own entity tag, and a client with either form gets 304', async () => {
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
        const heard = await gateway.ask({ target, fields });
        expect([heard.status, heard.text, heard.fields['vary']]).toEqual([304, '', 'Accept-Encoding']);
        expect(tag).toContain(heard.fields['etag'] ?? 'none');
        expect(heard.fields).not.toHaveProperty('content-encoding');
      }
  });

  it('is sent to HEAD as headers only', async () => {
    const target = `${QUESTIONS}?q=head`;
    const form = await gzipped(target);
    const head = await gateway.ask({ target, method: 'HEAD', fields: [GZIP] });
    const { date: _date, 'x-request-id': _id, ...fields } = head.fields;
    expect(form.fields).toMatchObject(fields);
    expect(fields['content-encoding']).toBe('gzip');
  });

  it('is never sent to a client that does not accept it', async () => {
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

  it('is sent in zstd to a client that accepts both', async () => {
    const target = `${QUESTIONS}?q=zstd`;
    const both = [['Accept-Encoding', 'gzip, deflate, br, zstd']] as const;
    const plain = await gateway.warm({ target });
    const coded = async () => {
      const heard = await gateway.ask({ target, fields: both });
      return heard.fields['content-encoding'] === undefined ? undefined : heard;
    };
    let heard = await coded();
    while (heard === undefined) heard = await coded();
    expect(heard.fields['content-encoding']).toBe('zstd');
    expect(heard.fields['vary']).toMatch(/accept-encoding/i);
    expect(heard.fields['etag']).toMatch(/-zstd"$/);
    expect(zstdDecompressSync(heard.body).toString()).toBe(plain.text);
  });

  it("counts toward the page's size and is removed with it", async () => {
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

  it('is not created if the configuration disables it', async () => {
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
