import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../src/engine/errors/gateway-error.ts';
import type { CheckName } from '../../../src/engine/model/checks.ts';
import { UpstreamFailure } from '../../../src/engine/model/upstream-failure.ts';
import { compilePlan, planLine } from '../../../src/engine/pipeline/plan.ts';
import type { StagePlanner } from '../../../src/engine/pipeline/stage.ts';
import { exchangeWith, failureOf, plannedWith, replyWith } from '../../builders/exchange.ts';

const passing = (name: string, order: string[]): StagePlanner => ({
  name,
  plan: () => (next) => (exchange) => {
    order.push(name);
    return next(exchange);
  },
});
const responding: StagePlanner = { name: 'last', plan: () => () => () => Promise.resolve(replyWith({})) };
const idle: StagePlanner = { name: 'idle', plan: () => undefined };

describe('a plan', () => {
  it('runs its stages from outermost to innermost and leaves out those without work', async () => {
    const order: string[] = [];
    const plan = compilePlan(plannedWith(), [passing('a', order), idle, passing('b', order), responding]);
    await plan.handle(exchangeWith());
    expect(order).toEqual(['a', 'b']);
    expect(plan.stages).toEqual(['a', 'b', 'last']);
    expect(planLine(plan)).toBe('GET  /services/v2/thing.json   a → b → last');
  });

  // The attack: a request or response makes a check throw an error. In transparent mode, the error must not make the
  // exchange fail.
  describe('in which everything is forwarded unchanged', () => {
    const transparent = plannedWith({ transparent: true });
    const mistake = new RangeError('Maximum call stack size exceeded');
    const broken = (name: string, check: CheckName, when: 'before' | 'after'): StagePlanner => ({
      name,
      check,
      plan: () => (next) => async (exchange) => {
        if (when === 'before') throw mistake;
        await next(exchange);
        throw mistake;
      },
    });

    it.each([
      ['authorize', 'permissions'],
      ['validate-body', 'requests'],
      ['bound-page', 'pageBounds'],
      ['validate-response', 'responses'],
    ] as const)(
      'continues without %s if it throws before or after the exchange, and records it',
      async (name, check) => {
        for (const when of ['before', 'after'] as const) {
          const order: string[] = [];
          const exchange = exchangeWith();
          const plan = compilePlan(transparent, [broken(name, check, when), passing('forwarded', order), responding]);
          expect(await plan.handle(exchange)).toMatchObject({ status: 200 });
          expect(order, 'nothing is sent twice').toEqual(['forwarded']);
          expect(exchange.trace[check]).toMatchObject({ outcome: 'failed', reason: 'error' });
          expect(exchange.trace.cause).toBe(mistake);
        }
      },
    );

    it('ends with transport failures and with decisions, which are not defects', async () => {
      for (const failure of [new UpstreamFailure('reset'), new GatewayError('client_closed', 'gone')]) {
        const failing: StagePlanner = { name: 'last', plan: () => () => () => Promise.reject(failure) };
        const order: string[] = [];
        const exchange = exchangeWith();
        const plan = compilePlan(transparent, [passing('authorize', order), failing]);
        expect(await failureOf(Promise.resolve(plan.handle(exchange)))).toBe(failure);
        expect([exchange.trace.permissions, exchange.trace.cause]).toEqual([undefined, undefined]);
      }
    });

    it('does not continue in the other modes', async () => {
      const plan = compilePlan(plannedWith(), [broken('validate-response', 'responses', 'after'), responding]);
      expect(await failureOf(Promise.resolve(plan.handle(exchangeWith())))).toBe(mistake);
    });
  });

  it('calls each planner once, when it is compiled', async () => {
    let asked = 0;
    const counting: StagePlanner = {
      name: 'counting',
      plan: () => {
        asked += 1;
        return (next) => next;
      },
    };
    const plan = compilePlan(plannedWith(), [counting, responding]);
    await plan.handle(exchangeWith());
    await plan.handle(exchangeWith());
    expect(asked).toBe(1);
  });

  it('fails and names itself if no stage ends it', async () => {
    const plan = compilePlan(plannedWith(), [idle]);
    expect(await failureOf(Promise.resolve(plan.handle(exchangeWith())))).toMatchObject({
      message: 'the plan of listThings has no last stage',
    });
  });
});
