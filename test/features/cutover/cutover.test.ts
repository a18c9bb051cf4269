import { beforeEach, describe, expect, it } from 'vitest';
import type { ClientResponse } from '../../builders/call.ts';
import { exampleResponse } from '../../builders/example-response.ts';
import { type FakeHandler, type FakeUpstream, startFakeUpstream } from '../../builders/fake-upstream.ts';
import { knowing, PROBE } from '../../builders/knowing-upstream.ts';
import { EXAMPLE_IDS, operationOf } from '../../builders/operations.ts';
import { createTestClock, type TestClock } from '../../builders/test-clock.ts';
import { startTestGateway, type TestGateway } from '../../builders/test-gateway.ts';

const TOKEN = 'the-admin-token';
const bearer = { Authorization: `Bearer ${TOKEN}` };
const QUESTIONS = '/services/v2/question.json';
const IDEAS = '/services/v2/idea.json';
const FAVORITE = operationOf('unmarkFavorite').target(EXAMPLE_IDS);
/** Enough callers that some are on each side of any share. */
const CALLERS = Array.from({ length: 40 }, (_, index) => `caller${String.fromCodePoint(97 + (index % 26))}${'x'.repeat(Math.floor(index / 26))}`);

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
