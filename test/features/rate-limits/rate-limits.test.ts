import { describe, expect, it } from 'vitest';
import type { ClientResponse, Call } from '../../builders/call.ts';
import { exampleResponse } from '../../builders/example-response.ts';
import { startFakeUpstream } from '../../builders/fake-upstream.ts';
import { sharedBy, startFleet } from '../../builders/fleet.ts';
import { needsProgram } from '../../builders/needs-program.ts';
import { startRedisServer } from '../../builders/redis-server.ts';
import { startTestGateway, type TestGateway } from '../../builders/test-gateway.ts';
import { eventually, until } from '../../builders/until.ts';

const QUESTIONS = '/services/v2/question.json';
const IDEAS = '/services/v2/idea.json';

type Rule = Readonly<Record<string, unknown>>;

/**
 * Sets the address from which a request seems to come. The test gateways trust this header when it comes from the
 * loopback address.
 */
const from = (address: string, call: Call = {}): Call => ({
  ...call,
  headers: { ...call.headers, 'x-forwarded-for': address },
});

/** Returns the headers that report the budgets. */
const budgets = ({ headers }: ClientResponse) =>
  ({ policy: headers['ratelimit-policy'], state: headers['ratelimit'] }) as { policy?: string; state?: string };

// Each test has its own server and gateways, so the tests can run concurrently. This saves time, because some have to
// wait.
needsProgram('redis', 'rate limits of two gateways with the same Redis', (path) => {
  const startPair = async (rateLimits: readonly Rule[]) => {
    const [server, upstream] = [await startRedisServer(path), await startFakeUpstream(exampleResponse)];
    const config = { rateLimits, listen: { trustedProxies: ['127.0.0.1'] } };
    const gateways = await startFleet(2, server, upstream, { config });
    let next = 0;
    /** Sends requests one after another, alternating between the two gateways. */
    const inTurn = async (count: number, target: string, call?: Call): Promise<ClientResponse[]> => {
      const replies: ClientResponse[] = [];
      for (; replies.length < count; next += 1) {
        const gateway = gateways[next % 2] as TestGateway;
        replies.push(await gateway.call(target, call));
      }
      return replies;
    };
    const statuses = async (...given: Parameters<typeof inTurn>) =>
      (await inTurn(...given)).map(({ status }) => status);
    return { server, upstream, gateways, inTurn, statuses };
  };

  it.concurrent('apply to both together, and the headers state the remaining budget', async () => {
    const { gateways, inTurn, upstream } = await startPair([{ name: 'all', requests: 4, windowSeconds: 60 }]);
    const replies = await inTurn(6, QUESTIONS);
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 429, 429]);
    expect(replies.map((one) => Number(/r=(\d+)/.exec(budgets(one).state ?? '')?.[1]))).toEqual([3, 2, 1, 0, 0, 0]);
    for (const one of replies) {
      expect(budgets(one).policy).toBe('"all";q=4;w=60');
      expect(budgets(one).state).toMatch(/^"all";r=\d;t=(?:[1-9]|[1-5]\d|60)$/);
    }
    const [refused] = replies.slice(-1);
    expect(refused?.json.error).toMatch(/^Too many requests/);
    expect(refused?.headers['retry-after']).toBe(/t=(\d+)/.exec(String(refused?.headers['ratelimit']))?.[1]);
    expect(replies[0]?.headers['retry-after']).toBeUndefined();
    expect(upstream.requests.filter((one) => one.path === QUESTIONS)).toHaveLength(1);
    const series = 'portico_rate_limited_total{rule="all",operation="listQuestions"}';
    for (const gateway of gateways) expect(await gateway.metric(series)).toBe(1);
  });

  it.concurrent('count simultaneous requests exactly', async () => {
    const { gateways } = await startPair([{ name: 'all', requests: 20, windowSeconds: 60 }]);
    const replies = await Promise.all(
      gateways.flatMap((gateway) => Array.from({ length: 25 }, () => gateway.call(QUESTIONS))),
    );
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(20);
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(30);
  });

  it.concurrent('allow requests again when the window is over', async () => {
    const { statuses } = await startPair([{ name: 'all', requests: 1, windowSeconds: 1 }]);
    expect(await statuses(1, QUESTIONS)).toEqual([200]);
    await eventually(async () => (await statuses(1, QUESTIONS))[0] === 200);
  });

  describe.concurrent('by key', () => {
    it('give each caller a budget, wherever the caller comes from', async () => {
      const { statuses } = await startPair([{ name: 'own', requests: 2, windowSeconds: 60 }]);
      const [alice, bob] = [{ user: 'alice' }, { user: 'bob' }];
      expect(await statuses(2, QUESTIONS, from('192.0.2.1', alice))).toEqual([200, 200]);
      expect(await statuses(1, IDEAS, from('198.51.100.1', alice))).toEqual([429]);
      expect(await statuses(3, QUESTIONS, from('192.0.2.1', bob))).toEqual([200, 200, 429]);
    });

    it('give each network a budget, whoever sends the requests', async () => {
      const { statuses } = await startPair([{ name: 'net', per: 'network', requests: 2, windowSeconds: 60 }]);
      expect(await statuses(1, QUESTIONS, from('2001:db8::1', { user: 'alice' }))).toEqual([200]);
      expect(await statuses(2, QUESTIONS, from('2001:db8::2', { user: 'bob' }))).toEqual([200, 429]);
      expect(await statuses(1, QUESTIONS, from('2001:db8:0:1::1', { user: 'bob' }))).toEqual([200]);
    });

    it('give a role one budget, and no budget to callers without it', async () => {
      const rule = { name: 'role', per: 'role', roles: ['moderation'], requests: 2, windowSeconds: 60 };
      const { statuses, inTurn } = await startPair([rule]);
      expect(await statuses(1, QUESTIONS, { user: 'moderator' })).toEqual([200]);
      expect(await statuses(2, QUESTIONS, { user: 'admin' })).toEqual([200, 429]);
      const [other] = await inTurn(1, QUESTIONS, { user: 'alice' });
      expect(other && { status: other.status, ...budgets(other) }).toEqual({ status: 200 });
    });

    it('apply to callers whose roles inherit the role of the rule', async () => {
      const rule = { name: 'role', roles: ['anonymous'], requests: 1, windowSeconds: 60 };
      const { statuses } = await startPair([rule]);
      expect(await statuses(2, QUESTIONS, { user: 'alice' })).toEqual([200, 429]);
    });

    it('apply only to the operations of a rule', async () => {
      const rule = { name: 'lists', operations: ['listQuestions'], requests: 1, windowSeconds: 60 };
      const { statuses, inTurn } = await startPair([rule]);
      expect(await statuses(2, QUESTIONS)).toEqual([200, 429]);
      const [idea] = await inTurn(1, IDEAS);
      expect(idea && { status: idea.status, ...budgets(idea) }).toEqual({ status: 200 });
    });
  });

  // A wrong password must not use up the account owner's budget. Failed logins have separate limits.
  it.concurrent('do not count requests that authentication refuses, but those that permissions refuse', async () => {
    const { statuses, inTurn } = await startPair([{ name: 'all', requests: 2, windowSeconds: 60 }]);
    for (const response of await inTurn(3, QUESTIONS, { user: 'alice', password: 'wrong' })) {
      expect(response.status).toBe(401);
      expect(budgets(response)).toEqual({});
    }
    expect(await statuses(2, QUESTIONS, { user: 'alice' })).toEqual([200, 200]);
    expect(await statuses(2, IDEAS, { user: 'nobody' })).toEqual([403, 403]);
    expect(await statuses(1, QUESTIONS, { user: 'nobody' })).toEqual([429]);
  });

  it.concurrent(
    'apply at each gateway alone while Redis is unavailable, and together again when it is back',
    async () => {
      const { server, gateways, statuses } = await startPair([{ name: 'all', requests: 2, windowSeconds: 60 }]);
      expect(await statuses(3, QUESTIONS)).toEqual([200, 200, 429]);
      await server.stop();
      await until(() => gateways.every((one) => !sharedBy(one).redis.isAvailable()));
      expect(await statuses(6, QUESTIONS)).toEqual([200, 200, 200, 200, 429, 429]);
      // Redis has lost its data, so the budget is full again.
      await server.start();
      await until(() =>
        gateways.every((one) => sharedBy(one).redis.isAvailable() && sharedBy(one).follower.isSynced()),
      );
      expect(await statuses(3, QUESTIONS)).toEqual([200, 200, 429]);
    },
  );
});

describe('rate limits of a gateway without Redis', () => {
  it('have the same headers and refusals', async () => {
    const upstream = await startFakeUpstream(exampleResponse);
    const rateLimits = [{ name: 'all', requests: 1, windowSeconds: 60 }];
    const gateway = await startTestGateway({ upstream, config: { rateLimits } });
    expect(budgets(await gateway.call(QUESTIONS))).toEqual({ policy: '"all";q=1;w=60', state: '"all";r=0;t=60' });
    const refused = await gateway.call(QUESTIONS);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(50);
  });
});
