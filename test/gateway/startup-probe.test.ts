import { describe, expect, it } from 'vitest';
import { failInvalidNames } from '../builders/invalid-names.ts';
import { startFakeUpstream, type FakeResponse, type FakeUpstream } from '../builders/fake-upstream.ts';
import { startTestGateway } from '../builders/test-gateway.ts';
import { until } from '../builders/until.ts';

const probing = (upstream: string | FakeUpstream, more: object = {}) =>
  startTestGateway({ upstream, real: true, config: { upstream: { startupProbe: true, ...more } } });

type Probed = Awaited<ReturnType<typeof probing>>;
type Entry = Record<string, unknown>;
const entries = (gateway: Probed) =>
  gateway.log.map((line) => JSON.parse(line) as Entry).filter(({ probe }) => probe !== undefined);

/** Starts a gateway whose upstream always returns this response, and returns the startup probe's log entry. */
async function probed(response: FakeResponse, basePath = ''): Promise<Entry> {
  const gateway = await probing(await startFakeUpstream(() => response, basePath));
  await until(() => entries(gateway).length > 0);
  return entries(gateway)[0] ?? {};
}

const html = { headers: { 'Content-Type': 'text/html' }, body: '<html>Log in</html>' };

describe('the startup probe', () => {
  it('names a wrong base path', async () => {
    const entry = await probed({ ...html, status: 404 }, '/wrong');
    expect(entry).toMatchObject({ level: 'warn', status: 404 });
    expect(entry['msg']).toContain('the base path is wrong; the URL must end before /services/v2');
  });

  it.each([
    ['a redirect', { status: 302, headers: { Location: '/login' } }, 'it redirects'],
    ['a website', html, 'it returns a page for browsers'],
    ['a failing server', { status: 503, body: '' }, 'it reports a server error'],
  ])('warns of %s', async (_, response, words) => {
    const entry = await probed(response);
    expect(entry).toMatchObject({ level: 'warn' });
    expect(entry['msg']).toContain(words);
  });

  it.each([
    ['a page', { json: [] }],
    ['a request for a credential', { status: 401, json: { error: 'no' } }],
  ])('accepts %s', async (_, response) => {
    const { level, probe } = await probed(response);
    expect([level, String(probe)]).toEqual(['info', expect.stringMatching(/^\/services\/v2\//)]);
  });

  it('sends one GET without a credential of a caller', async () => {
    const upstream = await startFakeUpstream(() => ({ json: [] }));
    const gateway = await probing(upstream);
    await until(() => entries(gateway).length > 0);
    const probes = upstream.requests.filter(({ headers }) => headers['user-agent'] === 'portico-startup-probe');
    expect(probes).toMatchObject([{ method: 'GET', user: undefined }]);
  });

  it('names the cause if there is no response', async () => {
    failInvalidNames();
    const gateway = await probing('http://no-such-host.invalid');
    await until(() => entries(gateway).length > 0);
    expect(entries(gateway)).toMatchObject([{ level: 'warn', cause: 'dns_error' }]);
    expect(entries(gateway)[0]?.['msg']).toContain('the host name cannot be resolved');
  });

  it('delays neither the start nor the end if the upstream is silent', async () => {
    const upstream = await startFakeUpstream(() => new Promise(() => undefined));
    const gateway = await probing(upstream);
    await upstream.received(1);
    expect((await gateway.admin('/livez')).status).toBe(200);
    await gateway.close();
    expect(entries(gateway)).toEqual([]);
  });

  it('can be turned off', async () => {
    const upstream = await startFakeUpstream(() => ({ json: [] }));
    const gateway = await probing(upstream, { startupProbe: false });
    await gateway.call('/services/v2/question.json');
    expect(upstream.requests.map(({ path }) => path)).toEqual(['/services/v2/question.json']);
    expect(entries(gateway)).toEqual([]);
  });
});
