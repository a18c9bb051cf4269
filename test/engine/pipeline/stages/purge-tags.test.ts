import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../../src/engine/errors/gateway-error.ts';
import { purgeTags } from '../../../../src/engine/pipeline/stages/purge-tags.ts';
import { createNext, exchangeWith, failureOf, plannedWith, replyWith, stageIn } from '../../../builders/exchange.ts';

const write = { operation: { method: 'PUT', purges: ['node:{nodeId}', 'things'] } } as const;

async function purgedAfter(respond: Parameters<typeof createNext>[0]): Promise<readonly string[][]> {
  const purged: string[][] = [];
  const handle = stageIn(
    purgeTags((tags) => purged.push([...tags])),
    plannedWith(write),
    createNext(respond),
  );
  await handle(exchangeWith({ values: { path: { nodeId: '7' } } })).catch(() => undefined);
  return purged;
}

const failing = (...error: ConstructorParameters<typeof GatewayError>) =>
  purgedAfter(() => Promise.reject(new GatewayError(...error)));

const ALL = [['node:7', 'things']];

describe('purge-tags', () => {
  it('has work only for writes that change something, and none in observe mode', () => {
    const stage = purgeTags(() => undefined);
    expect(stage.plan(plannedWith({ operation: { purges: ['things'] } }))).toBeUndefined();
    expect(stage.plan(plannedWith({ operation: { method: 'PUT', purges: [] } }))).toBeUndefined();
    expect(stage.plan(plannedWith({ ...write, transparent: true }))).toBeUndefined();
    expect(stage.plan(plannedWith(write))).toBeDefined();
  });

  it('purges after a success, including the node in the path', async () => {
    expect(await purgedAfter(replyWith({}))).toEqual(ALL);
  });

  it('purges before the client receives the success response', async () => {
    const order: string[] = [];
    const handle = stageIn(
      purgeTags(() => order.push('purged')),
      plannedWith(write),
      createNext(),
    );
    await handle(exchangeWith());
    order.push('replied');
    expect(order).toEqual(['purged', 'replied']);
  });

  it('purges if the response to the write was lost, because the write may have taken effect', async () => {
    expect(await failing('upstream_timeout', '')).toEqual(ALL);
    expect(await failing('internal_error', '')).toEqual(ALL);
    expect(await purgedAfter(() => Promise.reject(new Error('unexpected')))).toEqual(ALL);
    expect(await purgedAfter(replyWith({}, { status: 500 }))).toEqual(ALL);
  });

  it('purges if the client disconnected during the write', async () => {
    expect(await failing('client_closed', '')).toEqual(ALL);
  });

  it('purges nothing after a definite refusal', async () => {
    expect(await failing('upstream_permission_denied', '')).toEqual([]);
    for (const status of [400, 404, 499]) expect(await purgedAfter(replyWith({}, { status }))).toEqual([]);
  });

  it('rethrows the failure unchanged', async () => {
    const error = new GatewayError('upstream_reset', '');
    const handle = stageIn(
      purgeTags(() => undefined),
      plannedWith(write),
      createNext(() => Promise.reject(error)),
    );
    expect(await failureOf(handle(exchangeWith()))).toBe(error);
  });
});
