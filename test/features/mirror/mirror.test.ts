import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { mirror } from '../../../src/features/mirror/mirror.ts';
import type { MirrorOptions } from '../../../src/features/mirror/options.ts';
import { cleanUpAfterFile } from '../../builders/clean-up.ts';
import { exampleResponse } from '../../builders/example-response.ts';
import {
  type FakeHandler,
  type FakeResponse,
  type FakeUpstream,
  startFakeUpstream,
} from '../../builders/fake-upstream.ts';
import { createTestClock } from '../../builders/test-clock.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import { needsProgram } from '../../builders/needs-program.ts';
import { startRedisServer } from '../../builders/redis-server.ts';
import { sharedBy, startFleet } from '../../builders/fleet.ts';
import { startTestGateway, type TestGateway, type TestGatewayOptions } from '../../builders/test-gateway.ts';
import { eventually, until } from '../../builders/until.ts';

const LIST = '/services/v2/question.json';
const ONE = '/services/v2/node/118/comment.json';
/** Everything is mirrored at once. */
const ALL = {
  file: ':memory:',
  share: 1,
  askAgainMs: 0,
  budget: { requestsPerSecond: 1000, bytesPerSecond: 1_000_000_000 },
};

/** What is counted of an operation. */
interface Row {
  readonly operation: string;
  readonly because: Readonly<Record<string, number>>;
  readonly exchanges: number;
  readonly equal: number;
  readonly different: number;
  readonly muted: number;
  readonly notComparable: number;
  readonly notMade: number;
  readonly callers: number;
}

/** What the admin side says about the mirror. */
interface Shown {
  readonly operations: readonly Row[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly findings: readonly Readonly<Record<string, unknown>>[];
  readonly paused: boolean;
  readonly label: string;
}

const shownOf = async (gateway: TestGateway): Promise<Shown> =>
  JSON.parse((await gateway.admin('/mirror')).text) as Shown;

/** Starts two servers and a gateway that mirrors. By default, clients' passwords may be forwarded. */
async function start(
  second: FakeHandler = exampleResponse,
  options: object = {},
  { first = exampleResponse, ...more }: Partial<TestGatewayOptions> & { readonly first?: FakeHandler } = {},
) {
  const upstream = await startFakeUpstream(first);
  const candidate = await startFakeUpstream(second);
  const gateway = await gatewayTo(upstream, candidate.url, options, more);
  return { upstream, candidate, gateway, ...observe(gateway) };
}

async function gatewayTo(
  upstream: FakeUpstream,
  url: string,
  options: object,
  more: Partial<TestGatewayOptions> = {},
): Promise<TestGateway> {
  const forward = { credentials: 'forward', forwardTo: new URL(url).host };
  return startTestGateway({
    upstream,
    real: true,
    ...more,
    config: { ...more.config, mirror: { url, ...ALL, ...forward, ...options } },
  });
}

function observe(gateway: TestGateway) {
  const shown = () => shownOf(gateway);
  /** Waits until this many exchanges of an operation have an outcome, and returns its row. */
  const settled = async (exchanges: number, operation = 'listQuestions') => {
    let row: Row | undefined;
    await eventually(async () => {
      row = (await shown()).operations.find((one) => one.operation === operation);
      return (row?.exchanges ?? 0) >= exchanges;
    });
    return row as Row;
  };
  const entries = async () => {
    const snapshot = await gateway.gateway.services.records.snapshot();
    return snapshot.entries.filter(({ category }) => category === 'difference');
  };
  return { shown, settled, entries };
}

/** Changes the first item of a list. */
const withItem = (change: (item: Record<string, unknown>) => void): FakeHandler => {
  return (request) => {
    const usual = exampleResponse(request) as FakeResponse & { json: { list?: Record<string, unknown>[] } };
    const json = structuredClone(usual.json);
    const [item] = json.list ?? [];
    if (item !== undefined) change(item);
    return { ...usual, json };
  };
};

describe('the mirror', () => {
  it('sends a request to the second server once the client has its response, and counts equal responses', async () => {
    const { gateway, candidate, upstream, settled, entries } = await start();
    const reply = await gateway.call(`${LIST}?page=1&pageSize=5`, { headers: { Cookie: 'theme=dark' } });
    expect(reply.status).toBe(200);
    expect(await settled(1)).toMatchObject({
      compared: 1,
      equal: 1,
      different: 0,
      notMade: 0,
      coverage: 1,
      callers: 1,
    });
    expect(upstream.requests.map(({ path }) => path)).toEqual([LIST]);
    const [mirrored, ...others] = candidate.requests;
    expect(others).toEqual([]);
    expect(mirrored).toMatchObject({ method: 'GET', target: `${LIST}?page=1&pageSize=5`, user: 'admin' });
    expect(mirrored?.headers).not.toHaveProperty('cookie');
    expect(await entries()).toEqual([]);
  });

  it('records a difference that lasts in the ledger, with a fingerprint and without a value', async () => {
    const { gateway, settled, entries, shown } = await start(
      withItem((item) => Object.assign(item, { title: 'a secret title' })),
      { label: '2.17' },
    );
    await gateway.call(LIST);
    expect(await settled(1)).toMatchObject({ compared: 1, different: 1, accepted: 0, races: 0, unconfirmed: 0 });
    const found = await entries();
    expect(found).toMatchObject([
      { operation: 'listQuestions', at: '/list/*/title', keyword: 'compare-value', count: 1 },
    ]);
    expect(found[0]?.samples[0]?.found).toMatch(/^2\.17: old: text of \d+ characters; new: text of 14 characters/);
    const { findings } = await shown();
    expect(findings).toMatchObject([{ fingerprint: found[0]?.fingerprint, at: '/list/*/title', accepted: false }]);
    expect(JSON.stringify([found, findings]) + gateway.log.join('')).not.toContain('secret title');
  });

  it('counts a difference that vanishes when both servers are asked again as a race', async () => {
    let asked = 0;
    const { gateway, settled, entries, candidate } = await start((request) => {
      asked += 1;
      return asked === 1
        ? withItem((item) => Object.assign(item, { title: 'late' }))(request, undefined as never)
        : exampleResponse(request);
    });
    await gateway.call(LIST);
    expect(await settled(1)).toMatchObject({ equal: 1, different: 0, races: 1 });
    expect(candidate.requests).toHaveLength(2);
    expect(await entries()).toEqual([]);
  });

  it('compares failures: what one server has and the other has not', async () => {
    const { gateway, settled, entries } = await start(() => ({ status: 404, json: { error: 'Not found' } }));
    await gateway.call(LIST);
    expect(await settled(1)).toMatchObject({ different: 1, verdicts: { 'valid → valid': 1 } });
    expect(await entries()).toMatchObject([{ location: 'status', keyword: 'compare-status' }]);
  });

  it('counts what the baseline accepts as accepted, and still as different', async () => {
    const baseline = join(tempFolder(), 'baseline.yaml');
    writeFileSync(baseline, 'accepted: []\n');
    const { gateway, settled, entries } = await start(
      withItem((item) => Object.assign(item, { title: 'another' })),
      {},
      { config: { contract: { baseline } } },
    );
    await gateway.call(LIST);
    await settled(1);
    const [entry] = await entries();
    await gateway.gateway.baseline?.accept({
      fingerprint: entry?.fingerprint ?? '',
      owner: 'web',
      reason: 'renamed',
      expires: undefined,
      summary: 'a difference',
    });
    // What was found before counts as accepted, too.
    expect(await settled(1)).toMatchObject({ different: 1, accepted: 1, owners: ['web'], noticingCallers: 0 });
    await gateway.call(LIST);
    expect(await settled(2)).toMatchObject({ different: 2, accepted: 2, atMost: 1 - 0.05 ** (1 / 2) });
  });

  it('never counts a leak as accepted, even if the baseline contains it', async () => {
    const baseline = join(tempFolder(), 'baseline.yaml');
    writeFileSync(baseline, 'accepted: []\n');
    const denied = { status: 403, json: { error: 'You do not have permission to view this.' } };
    const { gateway, settled, entries, shown } = await start(
      exampleResponse,
      {},
      { first: () => denied, config: { contract: { baseline } } },
    );
    await gateway.call(LIST);
    await settled(1);
    const [entry] = await entries();
    expect(entry).toMatchObject({ keyword: 'compare-leak', status: 403 });
    await gateway.gateway.baseline?.accept({
      fingerprint: entry?.fingerprint ?? '',
      owner: 'web',
      reason: 'known',
      expires: undefined,
      summary: 'a difference',
    });
    await gateway.call(LIST);
    expect(await settled(2)).toMatchObject({ different: 2, accepted: 0, atMost: 1 });
    expect((await shown()).findings).toMatchObject([{ accepted: false, count: 2 }]);
  });

  it('records what the legacy server fails to do without the status of an outage', async () => {
    const failing = { first: () => ({ status: 500, json: {} }) };
    const { gateway, settled, entries, shown } = await start(exampleResponse, {}, failing);
    await gateway.call(LIST);
    expect(await settled(1)).toMatchObject({ different: 1 });
    const [entry] = await entries();
    expect(entry).toMatchObject({ keyword: 'compare-status', status: undefined });
    expect((await shown()).findings).toMatchObject([{ fingerprint: entry?.fingerprint, status: 500 }]);
  });

  it('mutes what a rule about noise covers', async () => {
    const noiseFile = join(tempFolder(), 'noise.yaml');
    const rule = { operation: 'listQuestions', at: '/list/*/title', reason: 'r', owner: 'o', until: '2999-01-01' };
    writeFileSync(noiseFile, JSON.stringify({ noise: [rule] }));
    const { gateway, settled, entries } = await start(
      withItem((item) => Object.assign(item, { title: 'another' })),
      { noiseFile },
    );
    await gateway.call(LIST);
    expect(await settled(1)).toMatchObject({ muted: 1, different: 0 });
    expect(await entries()).toEqual([]);
  });

  it('names all faults in the files that the options name', async () => {
    const folder = tempFolder();
    const [idsFile, noiseFile] = [join(folder, 'ids.csv'), join(folder, 'noise.yaml')];
    writeFileSync(idsFile, 'node,1\n');
    writeFileSync(noiseFile, 'noise: [{ operation: listQuestions }]\n');
    const upstream = await startFakeUpstream(exampleResponse);
    const failed = gatewayTo(upstream, 'http://127.0.0.1:9', { idsFile, noiseFile });
    await expect(failed).rejects.toThrow(/ids\.csv:1: must be kind,old,new[^]*noise\.yaml \/noise\/0\/at: is required/);
  });

  it('does not mirror the walk of a command, whose requests are no traffic', () => {
    const given = { share: 1, floor: 5 } as MirrorOptions;
    expect(mirror.forWalk(given)).toMatchObject({ share: 0, floor: 0 });
  });

  it('never sends writes, HEAD requests or requests for undocumented paths', async () => {
    const { gateway, candidate, settled } = await start();
    await gateway.call('/services/v2/node/118/favorite.json', { method: 'PUT' });
    await gateway.call(LIST, { method: 'HEAD' });
    await gateway.call('/services/v2/attachment/7/file.png');
    await gateway.call(LIST);
    await settled(1);
    expect(candidate.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([`GET ${LIST}`]);
  });

  it('counts stored pages as not made, because nothing was compared', async () => {
    const { gateway, candidate, settled } = await start(
      exampleResponse,
      {},
      {
        config: { mode: 'staging', authentication: { verifier: 'file' } },
        keepAccounts: true,
      },
    );
    await gateway.call(LIST);
    await settled(1);
    await gateway.call(LIST);
    expect(await settled(2)).toMatchObject({ equal: 1, notMade: 1, coverage: 0.5, because: { 'stored page': 1 } });
    expect(candidate.requests).toHaveLength(1);
  });
});

describe('whose requests are mirrored', () => {
  it('depends on the caller alone, not on the request', async () => {
    const { gateway, settled, shown, candidate } = await start(exampleResponse, { share: 0.5 });
    const users = Array.from({ length: 12 }, (_, index) => `user${index}`);
    for (const user of users) for (const page of [1, 2, 3]) await gateway.call(`${LIST}?page=${page}`, { user });
    const row = await settled(36);
    const requests = new Map(Map.groupBy(candidate.requests, ({ user }) => user));
    expect(requests.size).toBeGreaterThan(0);
    expect(requests.size).toBeLessThan(users.length);
    for (const own of requests.values()) expect(own).toHaveLength(3);
    expect(row.because).toEqual({ 'caller not chosen': 36 - candidate.requests.length });
    expect((await shown()).rows.length).toBeGreaterThan(0);
  });

  it('is the same on another gateway and differs with another seed', async () => {
    const { conversationOf, createCallerNumbers } = await import('../../../src/features/mirror/choose-callers.ts');
    const arrival = { clientAddress: '192.0.2.1' };
    const named = (name: string) =>
      conversationOf({
        arrival,
        principal: { kind: 'verified', name, audience: `caller:${name}`, authorization: undefined },
      });
    const numbers = ['', '', 'other'].map((seed) =>
      ['ada', 'bob', 'eve'].map((name) => createCallerNumbers(seed)(named(name))),
    );
    expect(numbers[0]).toEqual(numbers[1]);
    expect(numbers[0]).not.toEqual(numbers[2]);
    expect(createCallerNumbers('')(named('ADA'))).toBe(numbers[0]?.[0]);
    // In observe mode, a name is only claimed, and what else is known of the caller differs between gateways.
    const claimed = { kind: 'unverified', name: 'ada', audience: 'caller:x', authorization: undefined } as const;
    expect(conversationOf({ arrival, principal: claimed })).toBe(named('ada'));
  });

  it('includes everybody until an operation has as many comparisons in this hour as the floor demands', async () => {
    const { gateway, settled, candidate } = await start(exampleResponse, { share: 0, floor: 2 });
    for (let call = 1; call <= 4; call += 1) {
      await gateway.call(LIST);
      await settled(call);
    }
    await gateway.call(ONE);
    await settled(1, 'listNodeComments');
    expect(candidate.requests.map(({ path }) => path)).toEqual([LIST, LIST, ONE]);
  });
});

describe('the credential for the second server', () => {
  it('is never the caller’s unless the setting names the host', async () => {
    const { gateway, candidate, settled } = await start(exampleResponse, { credentials: 'none', forwardTo: undefined });
    await gateway.call(LIST);
    await gateway.call(LIST, { user: null });
    expect(await settled(2)).toMatchObject({ equal: 1, notMade: 1, because: { credential: 1 } });
    expect(candidate.requests.map(({ headers }) => headers.authorization)).toEqual([undefined]);
  });

  it('is refused at the start if the host is missing or another one', async () => {
    const upstream = await startFakeUpstream(exampleResponse);
    for (const forwardTo of [undefined, 'elsewhere.example'])
      await expect(gatewayTo(upstream, 'http://new.example', { forwardTo })).rejects.toThrow(
        '/mirror/forwardTo: must be the host of mirror.url',
      );
  });

  it('is the service account’s for operations that do not depend on the caller', async () => {
    const passwordFile = join(tempFolder(), 'password');
    writeFileSync(passwordFile, 'wTq81-service\n', { mode: 0o600 });
    const service = { credentials: 'service', forwardTo: undefined, username: 'mirror', passwordFile };
    const { gateway, candidate, settled } = await start(exampleResponse, { ...service, impersonal: ['listQuestions'] });
    await gateway.call(LIST);
    await gateway.call(ONE);
    await settled(1);
    expect(await settled(1, 'listNodeComments')).toMatchObject({ notMade: 1, because: { credential: 1 } });
    expect(candidate.requests.map(({ user, password }) => `${user}:${password}`)).toEqual(['mirror:wTq81-service']);
  });
});

describe('the account that stands for a caller', () => {
  /** Starts a gateway with an account for alice. The legacy server accepts only the password `alice`. */
  async function startMapped(accounts: unknown, mode = 'observe') {
    const folder = tempFolder();
    writeFileSync(join(folder, 'alice'), 'new-8Kd2-password\n', { mode: 0o600 });
    const accountsFile = join(folder, 'accounts.yaml');
    writeFileSync(accountsFile, JSON.stringify({ accounts }));
    const first: FakeHandler = (request) =>
      request.user === null || request.password === request.user
        ? exampleResponse(request)
        : { status: 401, json: { error: 'Bad credentials' } };
    const mapped = { credentials: 'map', forwardTo: undefined, accountsFile };
    return start(exampleResponse, mapped, { first, config: { mode } });
  }
  const ALICE = { caller: 'alice', user: 'alice.new', passwordFile: 'alice' };

  it('is used for this caller only, and anonymous requests have none', async () => {
    const { gateway, candidate, settled } = await startMapped([ALICE]);
    await gateway.call(LIST, { user: 'alice' });
    await settled(1);
    await gateway.call(LIST, { user: 'bob' });
    await gateway.call(LIST, { user: 'Alice' });
    await gateway.call(LIST, { user: null });
    expect(await settled(4)).toMatchObject({ equal: 2, notMade: 2, because: { credential: 2 } });
    expect(candidate.requests.map(({ user, password }) => [user, password])).toEqual([
      ['alice.new', 'new-8Kd2-password'],
      [undefined, undefined],
    ]);
  });

  it('is not used for somebody who only knows the name', async () => {
    const { gateway, candidate, settled } = await startMapped([ALICE]);
    expect((await gateway.call(LIST, { user: 'alice', password: 'guessed' })).status).toBe(401);
    expect(await settled(1)).toMatchObject({ notMade: 1, because: { credential: 1 } });
    expect(candidate.requests).toEqual([]);
  });

  it('is refused at the start with all faults in the file, without a secret', async () => {
    const failed = startMapped([
      { ...ALICE, passwordFile: 'missing' },
      { ...ALICE, caller: 5, pasword: 'Zq7-secret' },
      { caller: 'eve', user: 'a:b', passwordFile: 'alice' },
      { ...ALICE },
    ]);
    await expect(failed).rejects.toThrow(
      /accounts\/0\/passwordFile: .*cannot be read[^]*accounts\/1\/pasword: unknown key[^]*accounts\/1\/caller: must be[^]*accounts\/2\/user: must be[^]*accounts\/3\/caller: already has an account/,
    );
    await expect(failed).rejects.not.toThrow(/Zq7-secret|new-8Kd2/);
  });

  it('needs a file that not everybody can read', async () => {
    const folder = tempFolder();
    writeFileSync(join(folder, 'alice'), 'secret-4Kd2\n', { mode: 0o644 });
    const accountsFile = join(folder, 'accounts.yaml');
    writeFileSync(accountsFile, JSON.stringify({ accounts: [ALICE] }));
    const upstream = await startFakeUpstream(exampleResponse);
    await expect(
      gatewayTo(upstream, 'http://127.0.0.1:9', { credentials: 'map', forwardTo: undefined, accountsFile }),
    ).rejects.toThrow(/every user of this machine can read the secret/);
    await expect(
      gatewayTo(upstream, 'http://127.0.0.1:9', { credentials: 'map', forwardTo: undefined }),
    ).rejects.toThrow('/mirror/accountsFile: is required');
  });
});

describe('the request to the second server', () => {
  it('has the host that the second server knows itself by', async () => {
    const { gateway, candidate, settled } = await start(exampleResponse, { host: 'qa-new.example.org' });
    await gateway.call(LIST);
    expect(await settled(1)).toMatchObject({ equal: 1 });
    expect(candidate.requests[0]?.headers.host).toBe('qa-new.example.org');
  });

  it('has another prefix and further headers', async () => {
    const { gateway, candidate, settled } = await start((request) => exampleResponse({ ...request, path: LIST }), {
      prefix: { from: '/services/v2', to: '/api/v3' },
      headers: [{ name: 'X-Tenant', value: 'qa' }],
    });
    await gateway.call(`${LIST}?page=1`);
    expect(await settled(1)).toMatchObject({ equal: 1 });
    expect(candidate.requests[0]).toMatchObject({
      target: '/api/v3/question.json?page=1',
      headers: { 'x-tenant': 'qa' },
    });
  });

  it('cannot set a header that belongs to a client or a connection', async () => {
    const upstream = await startFakeUpstream(exampleResponse);
    for (const name of ['Cookie', 'Host'])
      await expect(gatewayTo(upstream, 'http://127.0.0.1:9', { headers: [{ name, value: 'a' }] })).rejects.toThrow(
        '/mirror/headers/0/name',
      );
  });
});

/** Starts a server that does what a test says with each connection, once it has received a request. */
async function startRawServer(respond: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    socket.once('data', () => respond(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  cleanUpAfterFile(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${port}`, sockets };
}

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';

/** Sends a text again and again. */
function flood(socket: Socket, text: string): void {
  const part = Buffer.from(text.repeat(Math.ceil(65_536 / text.length)));
  const send = () => {
    while (!socket.destroyed && socket.write(part));
    socket.once('drain', send);
  };
  send();
}

describe('a second server that misbehaves', () => {
  it.each<[string, (socket: Socket) => void, Readonly<Record<string, number>>]>([
    ['hangs', () => undefined, { 'new server: timeout': 1 }],
    [
      'drips',
      (socket) => {
        socket.write(`${HEAD}Content-Length: 1000000\r\n\r\n{`);
        const timer = setInterval(() => socket.write(' '), 5);
        socket.on('close', () => clearInterval(timer));
      },
      { 'new server: timeout': 1 },
    ],
    ['resets', (socket) => socket.resetAndDestroy(), { 'new server: connection reset': 1 }],
    [
      'sends a body without an end',
      (socket) => {
        socket.write(`${HEAD}Transfer-Encoding: chunked\r\n\r\n`);
        flood(socket, `10000\r\n${' '.repeat(0x10000)}\r\n`);
      },
      { 'new server: too large': 1 },
    ],
    [
      'floods it with trailers',
      (socket) => {
        socket.write(`${HEAD}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n`);
        flood(socket, 'a:\r\n');
      },
      { 'new server: incomplete response': 1 },
    ],
    [
      'floods it with chunk extensions',
      (socket) => {
        socket.write(`${HEAD}Transfer-Encoding: chunked\r\n\r\n`);
        flood(socket, `1;${'a'.repeat(10_000)}\r\n \r\n`);
      },
      { 'new server: incomplete response': 1 },
    ],
    [
      'floods it with headers',
      (socket) => {
        socket.write(HEAD);
        flood(socket, 'a:\r\n');
      },
      { 'new server: too large': 1 },
    ],
    ['sends no HTTP', (socket) => socket.end('hello\r\n\r\n'), { 'new server: connection reset': 1 }],
    [
      'is overloaded',
      (socket) => socket.write('HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n'),
      { 'new server: status 503': 1 },
    ],
  ])('and %s changes nothing for the client and leaves no connection', async (_name, respond, because) => {
    const plain = await startFakeUpstream(exampleResponse);
    const alone = await startTestGateway({ upstream: plain, real: true });
    const expected = await alone.call(LIST);
    const second = await startRawServer(respond);
    const upstream = await startFakeUpstream(exampleResponse);
    const timeouts = 'new server: timeout' in because ? { headersMs: 150, totalMs: 150 } : {};
    const gateway = await gatewayTo(upstream, second.url, { timeouts });
    const reply = await gateway.call(LIST);
    expect(reply.status).toBe(200);
    expect(reply.text).toBe(expected.text);
    expect(namesIn(reply)).toEqual(namesIn(expected));
    expect(await observe(gateway).settled(1)).toMatchObject({ compared: 0, notComparable: 1, because });
    await gateway.close();
    await until(() => second.sockets.size === 0);
  });

  it('does not hold up clients while it hangs, even if nothing else can be mirrored', async () => {
    const second = await startRawServer(() => undefined);
    const upstream = await startFakeUpstream(exampleResponse);
    // The test would reach its own time limit if a client waited for the second server.
    const gateway = await gatewayTo(upstream, second.url, {
      timeouts: { headersMs: 60_000, totalMs: 60_000 },
      concurrency: 1,
      queue: { exchanges: 2 },
    });
    for (let call = 0; call < 8; call += 1) expect((await gateway.call(LIST)).status).toBe(200);
    expect(await observe(gateway).settled(5)).toMatchObject({ notMade: 5, because: { 'queue full': 5 } });
    expect(second.sockets.size).toBe(1);
    await gateway.close();
    await until(() => second.sockets.size === 0);
  });

  it('holds up neither a reload nor the end, whatever it is waiting for', async () => {
    const another = withItem((item) => Object.assign(item, { title: 'another' }));
    const { gateway, candidate } = await start(another, { askAgainMs: 60_000 });
    await gateway.call(LIST);
    await candidate.received(1);
    // The test would reach its own time limit if the wait before both servers are asked again went on.
    await gateway.close();
    expect(candidate.requests).toHaveLength(1);
  });

  it('is not compared if it sends so many values that comparing them would hold up clients', async () => {
    const { gateway, settled, shown } = await start(
      withItem((item) => void (item['more'] = Array.from({ length: 20_000 }, () => 0))),
    );
    await gateway.call(LIST);
    expect(await settled(1)).toMatchObject({ exchanges: 1, different: 0, notComparable: 1 });
    expect(JSON.stringify(await shown())).toContain('new server: too many values');
  });

  it('loses its idle connections at the end', async () => {
    const { json } = exampleResponse({ method: 'GET', path: LIST });
    const body = JSON.stringify(json);
    const second = await startRawServer((socket) =>
      socket.write(`${HEAD}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`),
    );
    const upstream = await startFakeUpstream(exampleResponse);
    const gateway = await gatewayTo(upstream, second.url, {});
    await gateway.call(LIST);
    await observe(gateway).settled(1);
    expect(second.sockets.size).toBe(1);
    const before = performance.now();
    await gateway.close();
    await until(() => second.sockets.size === 0);
    // An idle connection would be closed after four seconds anyway.
    expect(performance.now() - before).toBeLessThan(3000);
  });

  it('leaves out what has waited too long, because both servers may have changed since', async () => {
    const clock = createTestClock();
    const first = Promise.withResolvers<undefined>();
    let asked = 0;
    const { gateway, candidate, settled } = await start(
      async (request) => {
        asked += 1;
        if (asked === 1) await first.promise;
        return exampleResponse(request);
      },
      { concurrency: 1, queue: { seconds: 5 } },
      { clock },
    );
    await gateway.call(LIST);
    await candidate.received(1);
    await gateway.call(LIST);
    clock.advance(6);
    first.resolve(undefined);
    expect(await settled(2)).toMatchObject({ equal: 1, because: { 'waited too long': 1 } });
    expect(candidate.requests).toHaveLength(1);
  });

  it('uses up the budget in bytes also with a response that never becomes complete', async () => {
    let asked = 0;
    const second = await startRawServer((socket) => {
      asked += 1;
      socket.end(`${HEAD}Content-Length: 9000\r\n\r\n${' '.repeat(5000)}`);
    });
    const upstream = await startFakeUpstream(exampleResponse);
    const clock = createTestClock();
    const budget = { requestsPerSecond: 1000, bytesPerSecond: 1024 };
    const gateway = await gatewayTo(upstream, second.url, { budget }, { clock });
    await gateway.call(LIST);
    expect(await observe(gateway).settled(1)).toMatchObject({ because: { 'new server: incomplete response': 1 } });
    await gateway.call(LIST);
    await eventually(async () => (await gateway.metric('portico_mirror_waiting')) === 1);
    expect(asked).toBe(1);
  });

  it('and redirects or sets cookies is not followed, and its cookies are not kept', async () => {
    const elsewhere = await startFakeUpstream(exampleResponse);
    const { gateway, candidate, settled } = await start((request) =>
      request.query.has('page')
        ? { ...exampleResponse(request), headers: { 'Set-Cookie': 'JSESSIONID=second' } }
        : { status: 302, headers: { Location: `${elsewhere.url}${LIST}` } },
    );
    const first = await gateway.call(`${LIST}?page=1`);
    await settled(1);
    const second = await gateway.call(LIST);
    expect(await settled(2)).toMatchObject({ equal: 1, different: 1 });
    expect(elsewhere.requests).toEqual([]);
    for (const { headers } of candidate.requests) expect(headers).not.toHaveProperty('cookie');
    for (const { headers } of [first, second]) expect(JSON.stringify(headers)).not.toMatch(/second|location/i);
  });

  it('and refuses everybody is reported as a difference of permissions, and the client’s credential stays verified', async () => {
    const { gateway, settled, entries } = await start(
      () => ({ status: 401, json: { error: 'Bad credentials' } }),
      {},
      {
        config: { mode: 'staging', authentication: { verifier: 'file' } },
        keepAccounts: true,
      },
    );
    expect((await gateway.call(`${LIST}?page=1`)).status).toBe(200);
    expect(await settled(1)).toMatchObject({ different: 1 });
    expect((await gateway.call(`${LIST}?pageSize=5`)).status).toBe(200);
    expect(await entries()).toMatchObject([{ keyword: 'compare-permission', category: 'difference' }]);
  });

  it('is left alone for a while after too many failures, which metrics show', async () => {
    const second = await startRawServer((socket) => socket.resetAndDestroy());
    const upstream = await startFakeUpstream(exampleResponse);
    const gateway = await gatewayTo(upstream, second.url, { circuit: { failures: 2, openSeconds: 3600 } });
    for (let call = 1; call <= 4; call += 1) {
      await gateway.call(LIST);
      await observe(gateway).settled(call);
    }
    const row = await observe(gateway).settled(4);
    expect(row.because).toEqual({ 'new server: connection reset': 2, 'second server paused': 2 });
    expect(await gateway.metric('portico_mirror_paused')).toBe(1);
    expect((await shownOf(gateway)).paused).toBe(true);
  });

  it.each([
    ['429 Too Many Requests', 'Retry-After: 60', 60],
    ['503 Busy', 'Retry-After: 999999999', 3600],
  ])('is left alone for as long as it asks with %s and %s, but at most an hour', async (status, header, seconds) => {
    const second = await startRawServer((socket) =>
      socket.end(`HTTP/1.1 ${status}\r\n${header}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`),
    );
    const upstream = await startFakeUpstream(exampleResponse);
    const clock = createTestClock();
    const gateway = await gatewayTo(upstream, second.url, {}, { clock });
    const { settled, shown } = observe(gateway);
    await gateway.call(LIST);
    await settled(1);
    clock.advance(seconds - 1);
    await gateway.call(LIST);
    const asked = `new server: status ${status.slice(0, 3)}`;
    expect(await settled(2)).toMatchObject({ because: { [asked]: 1, 'second server paused': 1 } });
    expect((await shown()).paused).toBe(true);
    clock.advance(2);
    await gateway.call(LIST);
    expect((await settled(3)).because).toEqual({ [asked]: 2, 'second server paused': 1 });
  });
});

const namesIn = ({ headers }: { readonly headers: object }) => Object.keys(headers).toSorted();

describe('the counts', () => {
  it('add up to the exchanges, per operation, status and role, and are in the metrics', async () => {
    const { gateway, settled, shown } = await start((request) =>
      request.query.get('page') === '2' ? { status: 503 } : exampleResponse(request),
    );
    await gateway.call(`${LIST}?page=1`);
    await gateway.call(`${LIST}?page=2`);
    const { equal, different, muted, notComparable, notMade, exchanges } = await settled(2);
    expect(equal + different + muted + notComparable + notMade).toBe(exchanges);
    const { rows } = await shown();
    expect(rows).toMatchObject([
      { operation: 'listQuestions', parameter: '', status: 200, equal: 1, notComparable: 1 },
      { operation: 'listQuestions', parameter: 'page', status: 200, equal: 1, notComparable: 1 },
    ]);
    expect(await gateway.metric('portico_mirror_exchanges_total{operation="listQuestions",outcome="equal"}')).toBe(1);
    expect(await gateway.metric('portico_mirror_left_out_total{reason="new server: status 503"}')).toBe(1);
    expect(await gateway.metric('portico_mirror_difference_share_bound{operation="listQuestions"}')).toBeCloseTo(0.95);
    const { text } = await gateway.admin('/metrics');
    expect(text).toContain('# TYPE portico_mirror_response_seconds histogram');
    for (const line of ['bucket{le="10",', 'bucket{le="+Inf",', 'count{'])
      expect(text).toContain(`portico_mirror_response_seconds_${line}operation="listQuestions",server="new"} 1\n`);
    expect(text).toMatch(/^portico_mirror_response_seconds_sum\{operation="listQuestions",server="old"\} 0\.?\d*/m);
  });

  it('survive a reload, and begin again for another second server', async () => {
    const { gateway, settled, shown, candidate } = await start();
    await gateway.call(LIST);
    await settled(1);
    const forward = { credentials: 'forward', forwardTo: new URL(candidate.url).host };
    const reload = (changed: object) =>
      gateway.reload({ config: { mirror: { url: candidate.url, ...ALL, ...forward, ...changed } } });
    await reload({ concurrency: 3 });
    await gateway.call(LIST);
    expect(await settled(2)).toMatchObject({ equal: 2 });
    await reload({ label: 'next' });
    expect(await shown()).toMatchObject({ label: 'next', operations: [] });
  });

  it('are kept apart by parameter, status and role, also where nothing was compared', async () => {
    const { gateway, settled, shown } = await start(exampleResponse, { share: 0, floor: 1 });
    await gateway.call(`${LIST}?sort=newest&page=1&made=up`);
    await settled(1);
    await gateway.call(`${LIST}?sort=newest`, { user: null });
    await settled(2);
    const cells = (await shown()).rows.map(({ parameter, role, equal, notMade }) => [parameter, role, equal, notMade]);
    expect(cells.filter(([parameter]) => parameter === 'sort')).toEqual([
      ['sort', 'anonymous', 0, 1],
      ['sort', 'no role', 1, 0],
    ]);
    expect(cells.map(([parameter]) => parameter)).not.toContain('made');
  });

  it('survive a restart, and belong to one second server', async () => {
    const file = join(tempFolder(), 'state', 'mirror.json');
    const another = withItem((item) => Object.assign(item, { title: 'a secret title' }));
    const first = await start(another, { file });
    await first.gateway.call(LIST);
    await first.settled(1);
    const { findings } = await first.shown();
    await first.gateway.close();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).not.toMatch(/admin|a secret title/);
    const gateway = await gatewayTo(first.upstream, first.candidate.url, { file });
    const again = observe(gateway);
    expect(await again.settled(1)).toMatchObject({ different: 1, callers: 1, noticingCallers: 1 });
    expect((await again.shown()).findings).toEqual(findings);
    await gateway.call(LIST);
    // It is the same caller.
    expect(await again.settled(2)).toMatchObject({ different: 2, callers: 1 });
    // The metrics are those of this process, as Prometheus expects.
    const series = 'portico_mirror_exchanges_total{operation="listQuestions",outcome="different"}';
    expect(await gateway.metric(series)).toBe(1);
    await gateway.close();
    const other = await gatewayTo(first.upstream, first.candidate.url, { file, label: 'next' });
    expect((await observe(other).shown()).operations).toEqual([]);
  });

  it.each<[string, (item: Record<string, unknown>) => void]>([
    ['long names', (item) => void (item['n'.repeat(60_000)] = 1)],
    ['long and deep names', (item) => void (item['author'] = { ['n'.repeat(990)]: { ['m'.repeat(990)]: ['x'] } })],
    [
      'many names',
      (item) => void Object.assign(item, Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`n${at}`, 1]))),
    ],
    ['names with line breaks and lone surrogates', (item) => void (item['a\nb\0\ud800'] = '\ud800')],
    ['a long text instead of a number', (item) => void (item['id'] = 'x'.repeat(100_000))],
    ['prototype names', (item) => void Object.defineProperty(item, '__proto__', { value: { a: 1 }, enumerable: true })],
  ])('can be read again whatever the second server calls its fields: %s', async (_name, change) => {
    const file = join(tempFolder(), 'mirror.json');
    const first = await start(withItem(change), { file });
    await first.gateway.call(LIST);
    await first.settled(1);
    const { findings, operations } = await first.shown();
    await first.gateway.close();
    expect(operations).toMatchObject([{ different: 1 }]);
    expect(JSON.stringify(findings).length).toBeLessThan(300_000);
    const gateway = await gatewayTo(first.upstream, first.candidate.url, { file });
    const again = await observe(gateway).shown();
    expect(new Set(again.findings)).toEqual(new Set(findings));
    await gateway.close();
  });

  it('show both objects of a difference side by side, without their values', async () => {
    const { gateway, settled, shown } = await start(
      withItem((item) => Object.assign(item, { title: 'a secret title', score: 'x' })),
    );
    await gateway.call(LIST);
    await settled(1);
    const { findings } = await shown();
    const beside = findings.find(({ at }) => at === '/list/*/title')?.['beside'] as string[][];
    // What differs comes first.
    expect(new Set(beside.slice(0, 2).map(([name]) => name))).toEqual(new Set(['score', 'title']));
    expect(beside.find(([name]) => name === 'title')?.[2]).toBe('text of 14 characters');
    expect(JSON.stringify(findings)).not.toContain('secret');
  });

  it('need an operator to be read', async () => {
    const { gateway } = await start(exampleResponse, {}, { config: { adminToken: 'k8Q2-mirror-token-77' } });
    expect((await gateway.admin('/mirror')).status).toBe(401);
  });
});

needsProgram('redis', 'a fleet with a mirror', (path) => {
  it('adds up what its gateways have compared, and knows one caller by the same number', async () => {
    const redis = await startRedisServer(path);
    const upstream = await startFakeUpstream(exampleResponse);
    const candidate = await startFakeUpstream(exampleResponse);
    const mirrored = { ...ALL, url: candidate.url, credentials: 'forward', forwardTo: new URL(candidate.url).host };
    const config = { mirror: mirrored };
    const [first, second] = (await startFleet(2, redis, upstream, { real: true, config })) as [
      TestGateway,
      TestGateway,
    ];
    await until(() => [first, second].every((one) => sharedBy(one).redis.isAvailable()));
    // Until a gateway has the key from Redis, it counts what was compared, but not for whom.
    for (const gateway of [first, second])
      await eventually(async () => {
        await gateway.call(LIST);
        return (await shownOf(gateway)).operations.some((row) => row.callers === 1);
      });
    const counted = await Promise.all(
      [first, second].map((gateway) =>
        gateway.metric('portico_mirror_exchanges_total{operation="listQuestions",outcome="equal"}'),
      ),
    );
    // What a gateway has counted is shared when it ends, at the latest.
    await first.close();
    const row = await observe(second).settled((counted[0] ?? 0) + (counted[1] ?? 0));
    expect(row).toMatchObject({ different: 0, callers: 1 });
    await second.close();
  });
});
