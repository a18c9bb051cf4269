import { describe, expect, it } from 'vitest';
import { refuseDisabled } from '../../../../src/engine/pipeline/stages/refuse-disabled.ts';
import { createNext, exchangeWith, failureOf, plannedWith, replyWith, stageIn } from '../../../builders/exchange.ts';
import { createTestClock } from '../../../builders/test-clock.ts';

const overriddenUntil = (until: number | undefined) => {
  return { disabled: until === undefined ? undefined : { until, toEnd: 'wait' } };
};

describe('refuse-disabled', () => {
  it('has work only for disabled operations, and none in observe mode', () => {
    const stage = refuseDisabled(createTestClock(0));
    expect(stage.plan(plannedWith())).toBeUndefined();
    expect(stage.plan(plannedWith(overriddenUntil(undefined)))).toBeUndefined();
    expect(stage.plan(plannedWith({ ...overriddenUntil(1000), transparent: true }))).toBeUndefined();
    expect(stage.plan(plannedWith(overriddenUntil(1000)))).toBeDefined();
  });

  it('refuses requests until the end, which it states in whole seconds, and then lets them pass', async () => {
    const clock = createTestClock(0);
    const next = createNext(replyWith({ list: [] }));
    const handle = stageIn(refuseDisabled(clock), plannedWith(overriddenUntil(90_500)), next);
    expect(await failureOf(handle(exchangeWith()))).toMatchObject({
      code: 'operation_disabled',
      headers: { 'Retry-After': '91' },
    });
    clock.advance(90.499);
    expect(await failureOf(handle(exchangeWith()))).toMatchObject({ headers: { 'Retry-After': '1' } });
    clock.advance(0.001);
    expect(await handle(exchangeWith())).toMatchObject({ status: 200 });
  });
});
