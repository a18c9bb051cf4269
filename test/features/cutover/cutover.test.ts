import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ClientResponse } from '../../builders/call.ts';
import { exampleResponse } from '../../builders/example-response.ts';
import { type FakeHandler, type FakeUpstream, startFakeUpstream } from '../../builders/fake-upstream.ts';
import { knowing, PROBE } from '../../builders/knowing-upstream.ts';
import { EXAMPLE_IDS, operationOf } from '../../builders/operations.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import { createTestClock, type TestClock } from '../../builders/test-clock.ts';
import { startTestGateway, type TestGateway } from '../../builders/test-gateway.ts';
import { eventually } from '../../builders/until.ts';

const TOKEN = 'the-admin-token';
const bearer = { Authorization: `Bearer ${TOKEN}` };
const QUESTIONS = '/services/v2/question.json';
const IDEAS = '/services/v2/idea.json';
const FAVORITE = operationOf('unmarkFavorite').target(EXAMPLE_IDS);
/** Enough callers that some are on each side of any share. */
const CALLERS = Array.from(
  { length: 40 },
  (_, index) => `caller${String.fromCodePoint(97 + (index % 26))}${'x'.repeat(Math.floor(index / 26))}`,
);

/** A server that writes its name into each page. */
const stamped =
  (name: string, respond: FakeHandler = exampleResponse): FakeHandler =>
  async (request, response) => {
    const given = await respond(request, response);
    const { json } = given ?? {};
    if (given === undefined || typeof json !== 'object' || json === null || !('list' in json)) return given;
    return { ...given, json: { ...json, name } };
  };

let old: FakeUpstream;
let fresh: FakeUpstream;
let clock: TestClock;
beforeEach(async () => {
  old = await startFakeUpstream(knowing(stamped('old')));
  fresh = await startFakeUpstream(knowing(stamped('new')));
  clock = createTestClock();
});

const start = (cutover: object, config: object = {}): Promise<TestGateway> =>
  startTestGateway({
    upstream: old,
    clock,
    real: true,
    env: { PORTICO_ADMIN_TOKEN: TOKEN },
    config: {
      mode: 'strict',
      auditTrail: { file: ':memory:' },
      ...config,
      cutover: { url: fresh.url, file: ':memory:', ...cutover },
    },
  });

const as = (user: string) => ({ user, password: user });
/** Returns the server that a page is from. */
const sideIn = ({ status, json }: ClientResponse): string =>
  status === 200 ? String((json as { readonly name?: string }).name) : `status ${status}`;
const sidesOf = async (gateway: TestGateway, target = QUESTIONS): Promise<Record<string, string>> =>
  Object.fromEntries(
    await Promise.all(CALLERS.map(async (user) => [user, sideIn(await gateway.call(target, as(user)))] as const)),
  );
const countOf = (sides: Readonly<Record<string, string>>, side: string) =>
  Object.values(sides).filter((one) => one === side).length;
const post = (gateway: TestGateway, path: string, body: object) =>
  gateway.admin(`/cutover/${path}`, { method: 'POST', headers: bearer, body });
const set = (gateway: TestGateway, share: number, operation = '*') =>
  post(gateway, 'set', { operation, share, by: 'ann' });

describe('a share of the callers', () => {
  it('is served by the new server, always the same ones, in all operations', async () => {
    const gateway = await start({ operations: { '*': { share: 50 } } });
    const sides = await sidesOf(gateway);
    expect(countOf(sides, 'new')).toBeGreaterThan(8);
    expect(countOf(sides, 'old')).toBeGreaterThan(8);
    expect(countOf(sides, 'new') + countOf(sides, 'old')).toBe(CALLERS.length);
    expect(await sidesOf(gateway, IDEAS)).toEqual(sides);
    // These are stored pages.
    expect(await sidesOf(gateway)).toEqual(sides);
    const another = await start({ operations: { '*': { share: 50 } } });
    expect(await sidesOf(another)).toEqual(sides);
  });

  it('only grows when it is raised, and only shrinks when it is lowered', async () => {
    const gateway = await start({ operations: { '*': { share: 10 } } });
    let before = await sidesOf(gateway);
    for (const share of [30, 60, 100, 60, 30, 0]) {
      expect((await set(gateway, share)).json).toMatchObject({ stored: true });
      const sides = await sidesOf(gateway);
      const moved = new Set(CALLERS.filter((user) => sides[user] !== before[user]).map((user) => sides[user]));
      expect(moved.size).toBeLessThan(2);
      before = sides;
    }
    expect(countOf(before, 'old')).toBe(CALLERS.length);
  });

  it('can be another one for an operation, and operations that are not listed stay', async () => {
    const gateway = await start({ operations: { listQuestions: { share: 100 } } });
    expect(sideIn(await gateway.call(QUESTIONS, as('ann')))).toBe('new');
    expect(sideIn(await gateway.call(IDEAS, as('ann')))).toBe('old');
  });

  it('does not apply to callers in the lists', async () => {
    const gateway = await start({ operations: { '*': { share: 50 } }, allow: CALLERS.slice(0, 20), deny: ['CallerZ'] });
    const sides = await sidesOf(gateway);
    expect(CALLERS.slice(0, 20).map((user) => sides[user])).toEqual(CALLERS.slice(0, 20).map(() => 'new'));
    expect(sides['callerz']).toBe('old');
  });
});

describe('what is known of a server', () => {
  it('is not known of the other one: stored pages, page counts, and fetches in progress', async () => {
    // The new server has more pages than the old one.
    const more = stamped('new', (request) => {
      const page = Number(request.query.get('page') ?? 1);
      return { json: { ...(exampleResponse(request).json as object), page, pageCount: 9 } };
    });
    fresh.handler = knowing(more);
    const gateway = await start({ operations: { '*': { share: 0 } } });
    expect(sideIn(await gateway.call(QUESTIONS, as('ann')))).toBe('old');
    await set(gateway, 100);
    const page = await gateway.call(QUESTIONS, as('ann'));
    expect([sideIn(page), page.headers['cache-status']]).toEqual(['new', expect.stringContaining('fwd=miss')]);
    await set(gateway, 0);
    const stored = await gateway.call(QUESTIONS, as('ann'));
    expect([sideIn(stored), stored.headers['cache-status']]).toEqual(['old', expect.stringContaining('hit')]);
    expect((await gateway.call(`${QUESTIONS}?page=3`, as('ann'))).status).toBe(400);
    await set(gateway, 100);
    expect((await gateway.call(`${QUESTIONS}?page=3`, as('ann'))).status).toBe(200);
    await set(gateway, 0);
    expect((await gateway.call(`${QUESTIONS}?page=3`, as('ann'))).status).toBe(400);
  });

  it('includes whose password is right', async () => {
    const gateway = await start({ operations: { '*': { share: 0 } } });
    expect((await gateway.call(QUESTIONS, as('ann'))).status).toBe(200);
    const respond = fresh.handler;
    fresh.handler = (request, response) =>
      request.path === PROBE ? { status: 401, json: { error: 'Bad credentials' } } : respond(request, response);
    await set(gateway, 100);
    expect((await gateway.call(QUESTIONS, as('ann'))).status).toBe(401);
    await set(gateway, 0);
    expect((await gateway.call(QUESTIONS, as('ann'))).status).toBe(200);
  });
});

describe('a failed login', () => {
  it('at the new server does not lock a caller out of the old one', async () => {
    const gateway = await start({ operations: { '*': { share: 100 } } });
    fresh.handler = () => ({ status: 401, json: { error: 'Bad credentials' } });
    const statusOf = async () => (await gateway.call(QUESTIONS, as('ann'))).status;
    for (let index = 0; index < 10; index += 1) expect(await statusOf()).toBe(401);
    expect(await statusOf()).toBe(429);
    await post(gateway, 'return', {});
    expect(await statusOf()).toBe(200);
  });
});

describe('a caller who writes', () => {
  const mover = { operations: { '*': { share: 100 } } };

  it('stays with the server that has got the write, until the next step', async () => {
    const gateway = await start(mover);
    expect(sideIn(await gateway.call(QUESTIONS, as('ann')))).toBe('new');
    expect((await gateway.call(FAVORITE, { method: 'PUT', ...as('ann') })).status).toBe(200);
    expect(old.requests.some(({ method }) => method === 'PUT')).toBe(true);
    expect(sideIn(await gateway.call(QUESTIONS, as('ann')))).toBe('old');
    expect(sideIn(await gateway.call(IDEAS, { user: 'Ann', password: 'ann' }))).toMatch('status 401');
    expect(sideIn(await gateway.call(QUESTIONS, as('bob')))).toBe('new');
    // Neither moves anybody to the new server.
    for (const share of [100, 95, 90]) {
      await set(gateway, share);
      expect(sideIn(await gateway.call(QUESTIONS, as('ann')))).toBe('old');
    }
    await set(gateway, 100);
    expect(sideIn(await gateway.call(QUESTIONS, as('ann')))).toBe('new');
  });

  it('does not stay with the new server if a share is lowered, another one is configured, or a list says so', async () => {
    const operations = { '*': { share: 0 }, listIdeas: { share: 50 }, unmarkFavorite: { share: 100, writes: true } };
    const gateway = await start({ operations });
    const reload = async (more: object) => {
      const cutover = { url: fresh.url, file: ':memory:', operations, ...more };
      expect(
        await gateway.reload({ config: { mode: 'strict', auditTrail: { file: ':memory:' }, cutover } }),
      ).toMatchObject({
        outcome: 'applied',
      });
    };
    const write = async () => {
      await gateway.call(FAVORITE, { method: 'PUT', ...as('ann') });
      expect(sideIn(await gateway.call(QUESTIONS, as('ann')))).toBe('new');
    };
    await write();
    await reload({ deny: ['ann'] });
    expect(sideIn(await gateway.call(QUESTIONS, as('ann')))).toBe('old');
    await reload({});
    expect(sideIn(await gateway.call(QUESTIONS, as('ann')))).toBe('new');
    await reload({ operations: { ...operations, listIdeas: { share: 40 } } });
    expect(sideIn(await gateway.call(QUESTIONS, as('ann')))).toBe('old');
    await write();
    await set(gateway, 30, 'listIdeas');
    expect(sideIn(await gateway.call(QUESTIONS, as('ann')))).toBe('old');
    expect(await gateway.metric('portico_cutover_staying_callers')).toBe(0);
  });

  it('writes to the new server only if the operation is listed', async () => {
    const gateway = await start({
      operations: { '*': { share: 0 }, unmarkFavorite: { share: 100, writes: true } },
    });
    expect(sideIn(await gateway.call(QUESTIONS, as('ann')))).toBe('old');
    await gateway.call(FAVORITE, { method: 'PUT', ...as('ann') });
    expect(fresh.requests.some(({ method }) => method === 'PUT')).toBe(true);
    expect(sideIn(await gateway.call(QUESTIONS, as('ann')))).toBe('new');
    expect(sideIn(await gateway.call(QUESTIONS, as('bob')))).toBe('old');
  });

  it('still stays after a restart, and the shares still are as they were set', async () => {
    const file = join(tempFolder(), 'cutover.json');
    const first = await start({ operations: { '*': { share: 0 } }, file });
    await set(first, 100);
    await first.call(FAVORITE, { method: 'PUT', ...as('carol') });
    await first.close();
    expect(readFileSync(file, 'utf8')).not.toContain('carol');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const second = await start({ operations: { '*': { share: 0 } }, file });
    expect(sideIn(await second.call(QUESTIONS, as('carol')))).toBe('old');
    expect(sideIn(await second.call(QUESTIONS, as('bob')))).toBe('new');
  });
});

describe('the cut-over returns by itself', () => {
  const RETURN = { minimum: 20, windowSeconds: 60 };
  /** Requests pages that are not stored, as callers whom the new server serves. */
  const load = async (gateway: TestGateway, count: number) => {
    for (let index = 0; index < count; index += 1)
      await gateway.call(`${QUESTIONS}?page=1&sort=s${random()}`, as('ann'));
  };
  const phaseOf = async (gateway: TestGateway) =>
    ((await gateway.admin('/cutover', { headers: bearer })).json as unknown as { readonly phase: string }).phase;
  let counter = 0;
  const random = () => (counter += 1);

  it('when the new server fails, with the exchange with which this is certain', async () => {
    const gateway = await start({ operations: { '*': { share: 100 } }, return: RETURN });
    fresh.handler = knowing(() => ({ status: 500, json: { error: 'broken' } }));
    await load(gateway, 19);
    expect(await phaseOf(gateway)).toBe('running');
    await load(gateway, 1);
    await eventually(async () => (await phaseOf(gateway)) === 'returned');
    expect(sideIn(await gateway.call(QUESTIONS, as('ann')))).toBe('old');
    expect(await gateway.metric('portico_cutover_exceeded_total{limit="errors"}')).toBe(1);
    expect(await gateway.metric('portico_cutover_phase{phase="returned"}')).toBe(1);
    const { json } = await gateway.admin('/audit', { headers: bearer });
    expect((json as unknown as { readonly entries: readonly object[] }).entries[0]).toMatchObject({
      action: 'cut-over returned',
      actor: 'portico',
      after: { phase: 'returned', reason: expect.stringContaining('20 of 20') as string },
    });
  });

  it('when its responses violate the contract', async () => {
    const gateway = await start({ operations: { '*': { share: 100 } }, return: RETURN });
    fresh.handler = knowing((request) => ({
      json: { ...(exampleResponse(request).json as object), totalCount: 'many' },
    }));
    await load(gateway, 20);
    await eventually(async () => (await phaseOf(gateway)) === 'returned');
    expect(await gateway.metric('portico_cutover_exceeded_total{limit="violations"}')).toBe(1);
  });

  it('when it does not know callers whom the old server knows', async () => {
    const gateway = await start({ operations: { '*': { share: 0 } }, return: RETURN });
    await sidesOf(gateway);
    fresh.handler = () => ({ status: 401, json: { error: 'Bad credentials' } });
    await set(gateway, 100);
    await sidesOf(gateway);
    await eventually(async () => (await phaseOf(gateway)) === 'returned');
    expect(await gateway.metric('portico_cutover_exceeded_total{limit="refusals"}')).toBe(1);
  });

  it('or is only frozen, if that is configured', async () => {
    const gateway = await start({
      operations: { '*': { share: 50 } },
      return: { ...RETURN, action: 'freeze' },
      allow: ['ann'],
    });
    fresh.handler = knowing(() => ({ status: 500, json: { error: 'broken' } }));
    await load(gateway, 20);
    await eventually(async () => (await phaseOf(gateway)) === 'frozen');
    expect((await set(gateway, 60)).json).toMatchObject({ error: expect.stringContaining('resume it') as string });
    expect((await set(gateway, 40)).status).toBe(200);
    // What was counted before does not freeze it again.
    fresh.handler = knowing(stamped('new'));
    expect((await post(gateway, 'resume', { by: 'ann' })).status).toBe(200);
    await gateway.call(`${QUESTIONS}?page=1&sort=s${random()}`, as('ann'));
    clock.advance(1_000);
    await load(gateway, 30);
    expect(await phaseOf(gateway)).toBe('running');
  });

  it('and once resumed, nobody suffers from what failed before', async () => {
    const circuit = { failures: 5, openSeconds: 600 };
    const gateway = await start({ operations: { '*': { share: 100 } }, return: RETURN, upstream: { circuit } });
    const respond = fresh.handler;
    fresh.handler = (request, response) =>
      request.path === PROBE ? respond(request, response) : void response.destroy();
    await load(gateway, 20);
    await eventually(async () => (await phaseOf(gateway)) === 'returned');
    expect(await gateway.metric('portico_cutover_circuit_open')).toBe(1);
    fresh.handler = respond;
    await post(gateway, 'resume', { by: 'ann' });
    expect(sideIn(await gateway.call(QUESTIONS, as('ann')))).toBe('new');
    expect(await gateway.metric('portico_cutover_circuit_open')).toBe(0);
  });

  it('but not because of requests that began before it was resumed', async () => {
    const gateway = await start({ operations: { '*': { share: 100 } }, return: RETURN });
    const respond = fresh.handler;
    const ends: (() => void)[] = [];
    fresh.handler = async (request, response) => {
      if (request.path === PROBE) return respond(request, response);
      await new Promise<void>((resolve) => ends.push(resolve));
      return { status: 500, json: { error: 'broken' } };
    };
    const hanging = Array.from({ length: 25 }, (_, index) =>
      gateway.call(`${QUESTIONS}?page=1&sort=h${index}`, as(CALLERS[index] ?? '')),
    );
    await eventually(() => Promise.resolve(ends.length === 25));
    clock.advance(1);
    await post(gateway, 'return', {});
    await post(gateway, 'resume', { by: 'ann' });
    fresh.handler = respond;
    expect(sideIn(await gateway.call(QUESTIONS, as('ann')))).toBe('new');
    for (const end of ends) end();
    await Promise.all(hanging);
    expect(await phaseOf(gateway)).toBe('running');
  });

  it('but not because of a failure that the old server has, too', async () => {
    const gateway = await start({ operations: { '*': { share: 0 } }, return: RETURN });
    const broken = knowing(() => ({ status: 500, json: { error: 'broken' } }));
    old.handler = broken;
    fresh.handler = broken;
    await load(gateway, 20);
    await set(gateway, 100);
    await load(gateway, 30);
    expect(await phaseOf(gateway)).toBe('running');
  });
});

describe('a new server that violates the contract', () => {
  const ask = async (gateway: TestGateway, user: string, count: number) => {
    const statuses = new Set<number>();
    for (let index = 0; index < count; index += 1)
      statuses.add((await gateway.call(`${QUESTIONS}?page=1&sort=${user}${index}`, as(user))).status);
    return [...statuses];
  };
  const broken = knowing((request) => ({
    json: { ...(exampleResponse(request).json as object), totalCount: 'many' },
  }));
  const demoted = 'portico_ladder_demoted{operation="listQuestions"}';

  it('lowers no level for the callers of the old one', async () => {
    const gateway = await start(
      { operations: { '*': { share: 0 } }, allow: ['ann'], return: { minimum: 100 } },
      { checks: { responses: 'enforce' } },
    );
    fresh.handler = broken;
    expect(await ask(gateway, 'ann', 30)).toEqual([502]);
    expect(await gateway.metric(demoted)).toBe(0);
    old.handler = broken;
    expect(await ask(gateway, 'bob', 30)).toEqual([502, 200]);
    expect(await gateway.metric(demoted)).toBe(1);
  });
});

describe('an operator', () => {
  it('needs a name to move callers forward, and to resume, but not to return', async () => {
    const gateway = await start({ operations: { '*': { share: 10 } } });
    expect((await post(gateway, 'set', { operation: '*', share: 20 })).json).toMatchObject({ field: 'by' });
    expect((await post(gateway, 'set', { operation: '*', share: 5 })).status).toBe(200);
    expect((await post(gateway, 'return', {})).status).toBe(200);
    expect((await post(gateway, 'resume', {})).json).toMatchObject({ field: 'by' });
    expect((await post(gateway, 'resume', { by: 'ann', reason: 'INC-17 is over' })).json).toMatchObject({
      decision: { phase: 'running', shares: { '*': 5 }, by: 'ann', reason: 'INC-17 is over' },
    });
  });

  it.each([
    ['set', { operation: 'listNothing', share: 1, by: 'ann' }, 'operation'],
    ['set', { operation: '*', share: 101, by: 'ann' }, 'share'],
    ['set', { operation: '*', share: 20, by: 'a\nb' }, 'by'],
    ['return', { reason: 'password=hunter2secret' }, 'reason'],
  ])('is told what is wrong: %s %j', async (path, body, field) => {
    const gateway = await start({ operations: { '*': { share: 10 } } });
    const refused = await post(gateway, path, body);
    expect([refused.status, (refused.json as { field?: string }).field]).toEqual([400, field]);
  });

  it('sees in an explanation, in the log and, if configured, in responses who serves whom', async () => {
    const gateway = await start({ operations: { '*': { share: 100 } }, sideHeader: true, deny: ['bob'] });
    const response = await gateway.call(QUESTIONS, { ...as('ann'), headers: { 'X-Request-Id': 'side-1' } });
    expect(response.headers['x-portico-side']).toBe('new');
    expect(await gateway.lineOf('side-1')).toMatchObject({ side: 'new' });
    const explain = async (user: string) =>
      (await gateway.gateway.explain({ method: 'GET', target: QUESTIONS, as: user })).find(
        ({ name }) => name === 'side',
      )?.text;
    expect(await explain('ann')).toMatch(/^new: the caller comes after .*% of the callers, and the share is 100%$/);
    expect(await explain('bob')).toBe('old: the caller is in deny');
    await set(gateway, 7);
    expect(await explain('ann')).toMatch(/, and the share is 7%$/);
    const quiet = await start({ operations: { '*': { share: 100 } } });
    expect((await quiet.call(QUESTIONS, as('ann'))).headers['x-portico-side']).toBeUndefined();
  });
});

describe('the rule', () => {
  it('raises the share when its time has come, the new server has served enough, and nothing is wrong', async () => {
    const steps = [{ share: 100, afterSeconds: 600, minimum: 5 }];
    const gateway = await start({ operations: { '*': { share: 10 } }, allow: ['ann'], steps });
    const status = async () =>
      (await gateway.admin('/cutover', { headers: bearer })).json as unknown as {
        decision: { shares: object; cause: string };
      };
    for (let index = 0; index < 6; index += 1) await gateway.call(`${QUESTIONS}?sort=a${index}`, as('ann'));
    expect((await status()).decision).toMatchObject({ shares: {} });
    clock.advance(601);
    await gateway.call(`${QUESTIONS}?sort=b`, as('ann'));
    await eventually(async () => (await status()).decision.cause === 'rule');
    expect((await status()).decision).toMatchObject({ shares: { '*': 100 } });
  });
});

describe('the rule with a limit on who would notice', () => {
  const noticed = async (callersNotice: number, mirror: boolean) => {
    const config = {
      credentials: 'forward',
      forwardTo: new URL(fresh.url).host,
      url: fresh.url,
      file: ':memory:',
      share: 1,
      budget: { requestsPerSecond: 1000, bytesPerSecond: 1_000_000_000 },
    };
    fresh.handler = knowing(exampleResponse);
    old.handler = knowing(exampleResponse);
    const gateway = await start(
      {
        operations: { '*': { share: 0 } },
        allow: ['ann'],
        steps: [{ share: 100, afterSeconds: 600, minimum: 1, callersNotice }],
      },
      mirror ? { mirror: config } : {},
    );
    await gateway.call(QUESTIONS, as('bob'));
    // One caller says little: at most 95 % would notice.
    if (mirror)
      await eventually(
        async () => (await gateway.metric('portico_mirror_callers_noticing_bound{operation="listQuestions"}')) === 0.95,
      );
    clock.advance(601);
    await gateway.call(QUESTIONS, as('ann'));
    return gateway.metric('portico_cutover_share{operation="listQuestions"}');
  };

  it('waits until the mirror has shown it', async () => {
    expect(await noticed(0.96, true)).toBe(1);
    expect(await noticed(0.94, true)).toBe(0);
    expect(await noticed(0.99, false)).toBe(0);
  });
});

describe('the rule under return.action: off', () => {
  it('waits after a limit was exceeded, too', async () => {
    const gateway = await start({
      operations: { '*': { share: 10 } },
      allow: ['ann'],
      steps: [{ share: 100, afterSeconds: 10, minimum: 5 }],
      return: { action: 'off', minimum: 20, coolDownSeconds: 600, windowSeconds: 60 },
    });
    const share = () => gateway.metric('portico_cutover_share{operation="listQuestions"}');
    const ask = async (count: number) => {
      for (let index = 0; index < count; index += 1)
        await gateway.call(`${QUESTIONS}?sort=a${index}x${clock()}`, as('ann'));
    };
    const respond = fresh.handler;
    fresh.handler = knowing(() => ({ status: 500, json: { error: 'broken' } }));
    await ask(20);
    fresh.handler = respond;
    clock.advance(60);
    await ask(5);
    expect(await share()).toBe(0.1);
    clock.advance(600);
    await ask(1);
    expect(await share()).toBe(1);
  });
});

describe('undocumented paths', () => {
  const PATH = '/services/v2/export/7.json';
  const allow = [
    { method: 'GET', path: PATH },
    { method: 'POST', path: PATH },
  ];
  const ask = async (gateway: TestGateway, method: string) => {
    await gateway.call(PATH, { method, ...as('ann') });
    return { old: old.requests.at(-1)?.method, fresh: fresh.requests.at(-1)?.method };
  };

  it('take part only if they are listed, and write only if that is listed, too', async () => {
    const quiet = await start({ operations: { '*': { share: 100 } } }, { undocumented: { allow } });
    await quiet.call(PATH, as('ann'));
    expect(fresh.requests.some(({ path }) => path === PATH)).toBe(false);
    const gateway = await start({ operations: { undocumented: { share: 100 } } }, { undocumented: { allow } });
    expect((await ask(gateway, 'GET')).fresh).toBe('GET');
    expect(await ask(gateway, 'POST')).toMatchObject({ old: 'POST', fresh: 'GET' });
    // The old server has got the write.
    old.requests.length = 0;
    expect((await ask(gateway, 'GET')).old).toBe('GET');
    const writing = await start(
      { operations: { undocumented: { share: 100, writes: true } } },
      { undocumented: { allow } },
    );
    expect((await ask(writing, 'POST')).fresh).toBe('POST');
  });
});

describe('a service account', () => {
  it('of the new server is sent there, and that of the old one never is', async () => {
    const file = join(tempFolder(), 'password');
    writeFileSync(file, 'portico', { mode: 0o600 });
    const accounts = /^(portico|service)$/;
    for (const server of [old, fresh]) server.handler = stamped(server === old ? 'old' : 'new');
    const gateway = await startTestGateway({
      upstream: old,
      real: true,
      keepAccounts: true,
      config: {
        mode: 'strict',
        authentication: { verifier: 'file' },
        upstream: { credentials: { kind: 'service', username: 'service', password: 'a long password' } },
        cutover: {
          url: fresh.url,
          file: ':memory:',
          username: 'portico',
          passwordFile: file,
          operations: { '*': { share: 100 } },
          deny: ['bob'],
        },
      },
    });
    const target = operationOf('listTopicFollowers').target(EXAMPLE_IDS);
    await gateway.call(target);
    await gateway.call(target, { user: 'bob' });
    const names = (server: FakeUpstream) =>
      server.requests.map(({ user = '' }) => user).filter((one) => accounts.test(one));
    expect([names(old), names(fresh)]).toEqual([['service'], ['portico']]);
  });
});

describe('the gateway', () => {
  it('passes on the same headers of both servers', async () => {
    const pages = stamped('new');
    fresh.handler = knowing(async (request, response) => {
      const given = await pages(request, response);
      return given && { ...given, headers: { 'X-Site': 'community' } };
    });
    const gateway = await start({ operations: { '*': { share: 100 } } }, { upstream: { responseHeaders: ['X-Site'] } });
    expect((await gateway.call(QUESTIONS, as('ann'))).headers).toMatchObject({ 'x-site': 'community' });
  });

  it('has one upstream in observe mode', async () => {
    const gateway = await start({ operations: { '*': { share: 100 } } }, { mode: 'observe' });
    expect(sideIn(await gateway.call(QUESTIONS, as('ann')))).toBe('old');
    expect(fresh.requests).toHaveLength(0);
  });

  it('keeps who has logged in, and the connections, when other shares are configured', async () => {
    const gateway = await start({ operations: { '*': { share: 100 } } });
    await gateway.call(QUESTIONS, as('ann'));
    const probes = () => fresh.requests.filter(({ path }) => path === PROBE).length;
    const before = probes();
    await gateway.reload({
      config: {
        mode: 'strict',
        cutover: { url: fresh.url, file: ':memory:', operations: { '*': { share: 90 } }, allow: ['ann'] },
      },
    });
    expect(sideIn(await gateway.call(QUESTIONS, as('ann')))).toBe('new');
    expect(probes()).toBe(before);
  });
});
