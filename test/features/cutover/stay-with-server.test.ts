import { expect, it } from 'vitest';
import { stayWithServer, type Writer } from '../../../src/features/cutover/stay-with-server.ts';

it('a write ends only when all gateways know where the caller stays, even if the shares change meanwhile', async () => {
  const events: string[] = [];
  const promises = [Promise.resolve(), Promise.resolve(), undefined];
  const stage = stayWithServer(() => {
    events.push('told');
    return promises.shift();
  });
  const plan = stage.plan({ operation: { method: 'PUT' } } as never);
  const handle = plan?.((): Promise<never> => {
    events.push('written');
    return Promise.resolve({} as never);
  });
  await handle?.({ trace: { upstream: {} } } as unknown as Writer as never);
  events.push('response');
  expect(events).toEqual(['written', 'told', 'told', 'told', 'response']);
});
