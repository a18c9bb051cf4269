import { describe, expect, it } from 'vitest';
import { compilePlan, planLine } from '../../src/pipeline/plan.ts';
import type { StagePlanner } from '../../src/pipeline/stage.ts';
import { exchangeWith, failureOf, plannedWith, replyWith } from '../builders/exchange.ts';

const passing = (name: string, order: string[]): StagePlanner => ({
  name,
  plan: () => (next) => (exchange) => {
    order.push(name);
    return next(exchange);
  },
});
const answering: StagePlanner = { name: 'last', plan: () => () => () => Promise.resolve(replyWith({})) };
const idle: StagePlanner = { name: 'idle', plan: () => undefined };

describe('a plan', () => {
  it('runs its stages outermost first and leaves out those without work', async () => {
    const order: string[] = [];
    const plan = compilePlan(plannedWith(), [passing('a', order), idle, passing('b', order), answering]);
    await plan.handle(exchangeWith());
    expect(order).toEqual(['a', 'b']);
    expect(plan.stages).toEqual(['a', 'b', 'last']);
    expect(planLine(plan)).toBe('GET  /services/v2/thing.json   a → b → last');
  });

  it('asks each planner once, when it is compiled', async () => {
    let asked = 0;
    const counting: StagePlanner = {
      name: 'counting',
      plan: () => {
        asked += 1;
        return (next) => next;
      },
    };
    const plan = compilePlan(plannedWith(), [counting, answering]);
    await plan.handle(exchangeWith());
    await plan.handle(exchangeWith());
    expect(asked).toBe(1);
  });

  it('that nothing ends fails, and says which', async () => {
    const plan = compilePlan(plannedWith(), [idle]);
    expect(await failureOf(Promise.resolve(plan.handle(exchangeWith())))).toMatchObject({
      message: 'the plan of listThings has no last stage',
    });
  });
});
