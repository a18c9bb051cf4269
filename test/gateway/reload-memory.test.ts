import { expect, it } from 'vitest';
import { exampleResponse } from '../builders/example-response.ts';
import { startFakeUpstream } from '../builders/fake-upstream.ts';
import { heldMemory } from '../builders/held-memory.ts';
import { startTestGateway } from '../builders/test-gateway.ts';

const RELOADS = 14;

/** The first ten reloads or so also take about 4 MB once, because V8 compiles and optimizes the code that they run. */
const WARM_UP = 12;

// A configuration takes about 0.35 MB of memory. A single closure that retains the previous configuration also retains
// all configurations before it.
it('does not hold the configurations that reloads have replaced in memory', async () => {
  const gateway = await startTestGateway({ upstream: await startFakeUpstream(exampleResponse) });
  const reload = async (maxPageSize: number) => {
    expect(await gateway.reload({ config: { pageBounds: { maxPageSize } } })).toMatchObject({ outcome: 'applied' });
    await gateway.call(`/services/v2/question.json?pageSize=${maxPageSize}`);
    gateway.gateway.services.cache.purgeAll();
  };
  for (let size = 1; size <= WARM_UP; size += 1) await reload(size);
  const replaced: WeakRef<object>[] = [];
  const bytes = await heldMemory(async () => {
    for (let size = 1; size <= RELOADS; size += 1) {
      replaced.push(new WeakRef(gateway.gateway.services), new WeakRef(gateway.gateway.services.features));
      await reload(size);
    }
  });
  expect(bytes).toBeLessThan((RELOADS * 350_000) / 2);
  // Configurations that share most of their memory are too small for the limit above. On a busy machine, V8 may still be
  // compiling functions of replaced configurations, which it releases afterwards.
  const held = async () => {
    await heldMemory(() => undefined);
    return replaced.filter((one) => one.deref() !== undefined).length;
  };
  await expect.poll(held, { interval: 100 }).toBe(0);
});
