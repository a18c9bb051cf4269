import { expect, it } from 'vitest';
import { startTestGateway } from '../../builders/test-gateway.ts';
import { withReferenceServer } from '../../reference/with-reference-server.ts';

const { server } = withReferenceServer();

const pagesWithout = async (without?: string) => {
  const gateway = await startTestGateway({ upstream: server(), ...(without !== undefined && { without }) });
  const { json } = await gateway.admin('/console/api/status');
  const names = (json as unknown as { pages: { name: string }[] }).pages.map(({ name }) => name);
  return { gateway, names };
};

it('lists its own pages and those of other features, each with its module', async () => {
  const { gateway, names } = await pagesWithout();
  expect([names[0], names[1], names.at(-1)]).toEqual(['traffic', 'violations', 'audit']);
  expect(names).not.toContain('fleet');
  for (const name of names) {
    const { status, text } = await gateway.admin(`/console/pages/${name}.js`);
    expect([name, status, text.includes('export function Page(')]).toEqual([name, 200, true]);
  }
});

it('goes on without the page of a feature that was taken out', async () => {
  const { gateway, names } = await pagesWithout('ledger');
  expect(names).not.toContain('violations');
  expect((await gateway.admin('/console/pages/violations.js')).status).toBe(404);
  expect((await gateway.admin('/console/api/violations')).json).toEqual({
    error: 'There is no console data at this path.',
  });
  expect((await gateway.admin('/console/api/traffic')).status).toBe(200);
});

it('can be taken out: the rest of the admin side stays', async () => {
  const gateway = await startTestGateway({ upstream: server(), without: 'console' });
  for (const target of ['/', '/console', '/console/', '/console/api/status', '/console/api/violations'])
    expect((await gateway.admin(target)).status).toBe(404);
  for (const target of ['/livez', '/readyz', '/metrics', '/audit'])
    expect((await gateway.admin(target)).status).toBe(200);
});

it('shows the configuration in use, and keeps its history, after a reload', async () => {
  const gateway = await startTestGateway({ upstream: server() });
  await gateway.call('/services/v2/article.json');
  const traffic = async () => (await gateway.admin('/console/api/traffic')).json;
  expect(await traffic()).toMatchObject({ total: { requests: 1 } });
  expect(await gateway.reload({ config: { release: '2.0' } })).toMatchObject({ outcome: 'applied' });
  expect((await gateway.admin('/console/api/status')).json).toMatchObject({ release: '2.0' });
  expect(await traffic()).toMatchObject({ total: { requests: 1 } });
});
