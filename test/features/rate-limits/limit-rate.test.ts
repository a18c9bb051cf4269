import { describe, expect, it } from 'vitest';
import type { PassthroughExchange } from '../../../src/engine/pipeline/exchange.ts';
import { openAlone } from '../../../src/engine/sharing/alone/open-alone.ts';
import { limitedRoles, limitRate } from '../../../src/features/rate-limits/limit-rate.ts';
import type { RateLimitRule } from '../../../src/features/rate-limits/options.ts';
import { createRateLimiter } from '../../../src/features/rate-limits/rate-limiter.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import {
  createNext,
  exchangeWith,
  failureOf,
  grantsWith,
  plannedWith,
  stageIn,
  traceWith,
} from '../../builders/exchange.ts';

const RULE: RateLimitRule = { name: 'all', per: 'caller', requests: 1, windowSeconds: 60 };
const ELSEWHERE: RateLimitRule = { ...RULE, operations: ['getComment'] };

function limiterOf(...rules: RateLimitRule[]) {
  const limited: unknown[] = [];
  const limiter = createRateLimiter({
    rules,
    sharing: openAlone(systemClock),
    onLimited: (...refusal) => limited.push(refusal),
  });
  return { limiter, limited };
}

const getComment = plannedWith({ operation: { id: 'getComment' } });
const undocumented = (transparent: boolean) => ({ transparent, grantsOf: () => grantsWith() });

describe('the stage limit-rate', () => {
  it('is planned only for operations with rules, and never in observe mode', () => {
    const [all, elsewhere] = [limitRate(limiterOf(RULE).limiter), limitRate(limiterOf(ELSEWHERE).limiter)];
    expect(all.plan(plannedWith())).toBeDefined();
    expect(all.plan(plannedWith({ transparent: true }))).toBeUndefined();
    expect(elsewhere.plan(plannedWith())).toBeUndefined();
    expect(elsewhere.plan(getComment)).toBeDefined();
  });

  it('is planned for undocumented paths unless all rules name operations', () => {
    const [all, elsewhere] = [limitRate(limiterOf(RULE).limiter), limitRate(limiterOf(ELSEWHERE).limiter)];
    expect(all.planUndocumented?.(undocumented(false))).toBeDefined();
    expect(all.planUndocumented?.(undocumented(true))).toBeUndefined();
    expect(elsewhere.planUndocumented?.(undocumented(false))).toBeUndefined();
  });

  it('refuses a request before the rest of the plan runs, and names the rule and the operation', async () => {
    const { limiter, limited } = limiterOf(RULE);
    const next = createNext();
    const handle = stageIn(limitRate(limiter), plannedWith(), next);
    const exchange = exchangeWith({ trace: traceWith({ operation: 'listThings' }) });
    await handle(exchange);
    expect(await failureOf(handle(exchange))).toMatchObject({ code: 'rate_limited', status: 429 });
    expect(next.asked).toHaveLength(1);
    expect(limited).toEqual([['all', 'listThings']]);
  });

  it('refuses requests for undocumented paths', async () => {
    const { limiter } = limiterOf({ ...RULE, roles: ['guest'] });
    const planned = { transparent: false, grantsOf: () => grantsWith({ roles: ['guest'] }) };
    const handle = limitRate(limiter).planUndocumented?.(planned)?.(() => Promise.resolve(undefined as never));
    const exchange: PassthroughExchange = { ...exchangeWith(), permission: undefined };
    await handle?.(exchange);
    expect(await failureOf(Promise.resolve(handle?.(exchange)))).toMatchObject({ code: 'rate_limited' });
  });

  it('decides without counting if it is passive', async () => {
    const { limiter, limited } = limiterOf(RULE);
    const passive = stageIn(limitRate(limiter, true), plannedWith(), createNext());
    const active = stageIn(limitRate(limiter), plannedWith(), createNext());
    const exchange = exchangeWith();
    for (let count = 0; count < 3; count += 1) await passive(exchange);
    await active(exchange);
    expect(await failureOf(passive(exchange))).toMatchObject({ code: 'rate_limited' });
    expect(limited).toEqual([]);
  });
});

describe('the roles whose limits apply', () => {
  it('are those of the account that the name spells, if the name is another spelling', () => {
    const roles = ['standard'];
    expect(limitedRoles({ roles })).toEqual(['standard']);
    expect(limitedRoles({ roles, spells: grantsWith({ roles: ['guest'] }) })).toEqual(['guest']);
  });
});
