import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { limitRate } from '../../../src/features/rate-limits/limit-rate.ts';
import type { RateLimitRule } from '../../../src/features/rate-limits/options.ts';
import { BUDGETS, createRateLimiter } from '../../../src/features/rate-limits/rate-limiter.ts';
import { openAlone } from '../../../src/engine/sharing/alone/open-alone.ts';
import { shareThrough } from '../../../src/engine/sharing/redis/open-redis.ts';
import type { Sharing } from '../../../src/engine/sharing/sharing.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { cleanUpAfterTest } from '../../builders/clean-up.ts';
import { createNext, exchangeWith, failureOf, plannedWith, replyWith, stageIn } from '../../builders/exchange.ts';
import { needsProgram } from '../../builders/needs-program.ts';
import { connectTo, startRedisServer } from '../../builders/redis-server.ts';
import { until } from '../../builders/until.ts';

const RULE: RateLimitRule = { name: 'all', per: 'caller', requests: 3, windowSeconds: 60 };

/** Creates a gateway's stage with these rules. */
function stageWith(
  rules: readonly RateLimitRule[],
  sharing: Pick<Sharing, 'counters'> = openAlone(systemClock),
  maxBudgets?: number,
) {
  const limited: string[] = [];
  const limiter = createRateLimiter({
    rules,
    sharing,
    ...(maxBudgets !== undefined && { maxBudgets }),
    onLimited: (rule) => limited.push(rule),
  });
  const next = createNext(replyWith({ list: [] }));
  const handle = stageIn(limitRate(limiter), plannedWith(), next);
  const exchangeOf = (name: string | undefined, address = '192.0.2.1', roles: readonly string[] = []) => {
    const exchange = exchangeWith();
    const kind = name === undefined ? ('anonymous' as const) : ('verified' as const);
    return {
      ...exchange,
      arrival: { ...exchange.arrival, clientAddress: address },
      principal: { ...exchange.principal, kind, name },
      grants: { ...exchange.grants, roles },
    };
  };
  /** Sends requests, and returns how many of them passed. */
  const passed = async (count: number, ...given: Parameters<typeof exchangeOf>) => {
    const results = await Promise.allSettled(Array.from({ length: count }, async () => handle(exchangeOf(...given))));
    return results.filter(({ status }) => status === 'fulfilled').length;
  };
  return { limited, handle, exchangeOf, passed };
}

describe('the rate limiter', () => {
  it('asks for a wait of at least one second, even if the window is about to end', async () => {
    const counted = () => ({ count: RULE.requests + 1, leftMs: 0 });
    const { handle, exchangeOf } = stageWith([RULE], { counters: () => ({ add: counted, read: counted }) });
    expect(await failureOf(handle(exchangeOf('alice')))).toMatchObject({ headers: { 'Retry-After': '1' } });
  });

  it('asks for the longest wait if several budgets are exhausted', async () => {
    const { handle, exchangeOf, limited, passed } = stageWith([
      { ...RULE, windowSeconds: 5 },
      { ...RULE, name: 'long', windowSeconds: 40 },
    ]);
    await passed(3, 'alice');
    expect(await failureOf(handle(exchangeOf('alice')))).toMatchObject({ headers: { 'Retry-After': '40' } });
    expect(limited).toEqual(['long']);
  });

  // The attack: a botnet sends requests from so many networks that their budgets exhaust the memory.
  it('forgets the budgets that have not been used for the longest time', async () => {
    const { passed } = stageWith([{ ...RULE, requests: 1 }], undefined, 10);
    for (let index = 0; index < 11; index += 1) await passed(1, undefined, `192.0.2.${index}`);
    expect(await passed(1, undefined, '192.0.2.10')).toBe(0);
    expect(await passed(1, undefined, '192.0.2.0')).toBe(1);
  });

  it('gives each verified caller a budget, and states it', async () => {
    const { handle, exchangeOf, passed, limited } = stageWith([RULE]);
    const first = exchangeOf('alice');
    await handle(first);
    expect(BUDGETS.get(first.trace)).toEqual({
      policy: '"all";q=3;w=60',
      state: '"all";r=2;t=60',
      refusedBy: undefined,
    });
    expect(await passed(5, 'alice', '198.51.100.1')).toBe(2);
    expect(await passed(5, 'bob')).toBe(3);
    const refused = exchangeOf('alice');
    const error = await failureOf(handle(refused));
    expect(error).toMatchObject({ code: 'rate_limited', status: 429 });
    expect(Number((error as { headers?: Record<string, string> }).headers?.['Retry-After'])).toBeGreaterThan(50);
    expect(BUDGETS.get(refused.trace)?.refusedBy).toBe('all');
    expect(limited).toHaveLength(6);
  });

  // Anyone can send another caller's name. If unverified names had their own budgets, an attacker could exhaust a
  // victim's budget, and could get new budgets by inventing names.
  it('counts callers who are not verified by network, whatever name they claim', async () => {
    const { handle, exchangeOf, passed } = stageWith([RULE]);
    for (const name of ['alice', 'bob', 'carol']) {
      const exchange = exchangeOf(name);
      await handle({ ...exchange, principal: { ...exchange.principal, kind: 'unverified' } });
    }
    expect(await passed(2, undefined)).toBe(0);
    expect(await passed(2, undefined, '198.51.100.7')).toBe(2);
    expect(await passed(5, 'alice')).toBe(3);
  });

  it('treats the addresses of an IPv6 network as one', async () => {
    const { passed } = stageWith([RULE]);
    expect(await passed(3, undefined, '2001:db8::1')).toBe(3);
    expect(await passed(1, undefined, '2001:db8::2')).toBe(0);
  });

  it('applies a rule for roles to their members, who can share a budget', async () => {
    const own = stageWith([{ ...RULE, roles: ['guest'] }]);
    expect(await own.passed(5, 'alice', '192.0.2.1', ['standard'])).toBe(5);
    expect(await own.passed(5, 'bob', '192.0.2.1', ['standard', 'guest'])).toBe(3);
    const shared = stageWith([{ ...RULE, per: 'role', roles: ['guest'] }]);
    expect(await shared.passed(2, 'alice', '192.0.2.1', ['guest'])).toBe(2);
    expect(await shared.passed(2, 'bob', '192.0.2.1', ['guest'])).toBe(1);
  });

  it('starts a new budget when the window is over', async () => {
    const time = { now: 1_700_000_000_000 };
    const { passed } = stageWith(
      [RULE],
      openAlone(() => time.now),
    );
    expect(await passed(4, 'alice')).toBe(3);
    time.now += 59_999;
    expect(await passed(1, 'alice')).toBe(0);
    time.now += 1;
    expect(await passed(4, 'alice')).toBe(3);
  });

  it('states all budgets of a request, and tells the refused client how long to wait', async () => {
    const time = { now: 1_700_000_000_000 };
    const rules = [RULE, { ...RULE, name: 'short', requests: 1, windowSeconds: 10 }];
    const { handle, exchangeOf } = stageWith(
      rules,
      openAlone(() => time.now),
    );
    await handle(exchangeOf('alice'));
    time.now += 500;
    const second = exchangeOf('alice');
    expect(await failureOf(handle(second))).toMatchObject({
      message: 'Too many requests. Try again in 10 seconds.',
      headers: { 'Retry-After': '10' },
    });
    expect(BUDGETS.get(second.trace)).toEqual({
      policy: '"all";q=3;w=60, "short";q=1;w=10',
      state: '"all";r=1;t=60, "short";r=0;t=10',
      refusedBy: 'short',
    });
  });

  it('states no budgets if no rule applies to the caller', async () => {
    const { handle, exchangeOf } = stageWith([{ ...RULE, roles: ['guest'] }]);
    const exchange = exchangeOf('alice', '192.0.2.1', ['standard']);
    await handle(exchange);
    expect(BUDGETS.get(exchange.trace)).toBeUndefined();
  });

  it('has separate budgets for each role of a rule, and for a network and a caller of the same rule', async () => {
    const roles = stageWith([{ ...RULE, per: 'role', roles: ['guest', 'member'] }]);
    expect(await roles.passed(4, 'alice', '192.0.2.1', ['guest'])).toBe(3);
    expect(await roles.passed(4, 'bob', '192.0.2.1', ['member'])).toBe(3);
    const networks = stageWith([{ ...RULE, per: 'network' }]);
    expect(await networks.passed(2, 'alice')).toBe(2);
    expect(await networks.passed(2, 'bob')).toBe(1);
  });

  it('counts a request toward every rule', async () => {
    const { passed } = stageWith([RULE, { ...RULE, name: 'network', per: 'network', requests: 4 }]);
    expect(await passed(3, 'alice')).toBe(3);
    expect(await passed(3, 'bob')).toBe(1);
  });
});

needsProgram('redis', 'rate limits in a fleet', (path) => {
  const member = async (url: string) => {
    const redis = connectTo(url);
    const logger = pino({ enabled: false });
    const sharing = shareThrough(redis, { options: { maxChanges: 1_000 }, sealKeys: [], clock: systemClock, logger });
    cleanUpAfterTest(() => sharing.close());
    await until(() => redis.isAvailable());
    return { redis, ...stageWith([RULE], sharing) };
  };

  it('count for all gateways together, under names that Redis does not reveal', async () => {
    const { url } = await startRedisServer(path);
    const [one, other] = [await member(url), await member(url)];
    const passed = await Promise.all([one.passed(5, 'planted'), other.passed(5, 'planted')]);
    expect(passed[0] + passed[1]).toBe(3);
    const keys = (await one.redis.command('', ['KEYS', '*'])) as string[];
    expect(keys.some((key) => key.includes('limit-'))).toBe(true);
    expect(keys.join('\n')).not.toMatch(/planted|192\.0\.2/);
  });

  it('count for each gateway alone while Redis hangs, after a bounded wait', async () => {
    const server = await startRedisServer(path);
    const one = await member(server.url);
    expect(await one.passed(1, 'alice')).toBe(1);
    server.freeze();
    expect(await one.passed(5, 'alice')).toBe(3);
    server.thaw();
  });
});
