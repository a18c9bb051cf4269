import { describe, expect, it } from 'vitest';
import type { Call } from '../../../builders/call.ts';
import { exampleResponse } from '../../../builders/example-response.ts';
import { startFakeUpstream } from '../../../builders/fake-upstream.ts';
import { TOKENS_ON } from '../../../builders/tokens-on.ts';
import { startTestGateway } from '../../../builders/test-gateway.ts';

const TOKEN = 'reference-test-token';
const LIST = { method: 'GET', target: '/services/v2/question.json', credential: { name: 'alice', password: 'alice' } };
const WRITE = { method: 'PUT', target: '/services/v2/node/118/cancelwiki.json' };

async function startRouter(token?: string) {
  const upstream = await startFakeUpstream(exampleResponse);
  const gateway = await startTestGateway({
    upstream,
    ...(token !== undefined && { env: { PORTICO_ADMIN_TOKEN: token } }),
  });
  const own = { Origin: gateway.adminUrl, ...(token !== undefined && { Authorization: `Bearer ${token}` }) };
  const attempt = (body: unknown, headers: Call['headers'] = own) =>
    gateway.admin('/console/api/try', { method: 'POST', body, headers });
  return { upstream, gateway, attempt, own };
}

describe('the contract in the API docs', () => {
  it('names the schemes with which clients log in', async () => {
    const upstream = await startFakeUpstream(exampleResponse);
    const gateway = await startTestGateway({ upstream, config: { tokens: { file: TOKENS_ON.file } } });
    const schemesOf = async () =>
      ((await gateway.admin('/console/api/contract')).json as unknown as { schemes: string[] }).schemes;
    expect(await schemesOf()).toEqual(['Basic']);
    await gateway.reload({ config: { tokens: TOKENS_ON } });
    expect(await schemesOf()).toEqual(['Bearer', 'Basic']);
  });
});

describe('the relay of the API docs', () => {
  it("returns the gateway's response to a request with the form's credential", async () => {
    const { attempt, upstream } = await startRouter();
    const response = await attempt(LIST);
    expect([response.status, response.json.status]).toEqual([200, 200]);
    expect(upstream.requests.map(({ user }) => user)).toEqual(['alice']);
    expect((await attempt({ ...LIST, credential: undefined })).json.status).toBe(401);
  });

  it('sends unsafe methods only if an admin token is set', async () => {
    const closed = await startRouter();
    expect(await closed.attempt(WRITE)).toMatchObject({ status: 403 });
    expect(closed.upstream.requests).toEqual([]);
    const open = await startRouter(TOKEN);
    expect(await open.attempt({ ...WRITE, credential: { name: 'admin', password: 'admin' } })).toMatchObject({
      status: 200,
    });
    expect(open.upstream.requests.map(({ method }) => method)).toEqual(['PUT']);
  });

  it('refuses foreign pages, HTML forms and requests without the token', async () => {
    const { attempt, upstream, own } = await startRouter(TOKEN);
    for (const headers of [
      { ...own, Origin: 'http://elsewhere.example' },
      { ...own, 'Sec-Fetch-Site': 'cross-site' },
      { ...own, 'Content-Type': 'text/plain' },
      { Origin: own.Origin },
    ])
      expect((await attempt(LIST, headers)).status).toBeGreaterThanOrEqual(400);
    expect(upstream.requests).toEqual([]);
  });

  it('names the invalid field of the form and bounds its size', async () => {
    const { attempt } = await startRouter();
    expect(await attempt({ ...LIST, target: '/metrics' })).toMatchObject({ status: 400, json: { field: 'target' } });
    expect(await attempt({ ...LIST, headers: { Cookie: 'a'.repeat(300_000) } })).toMatchObject({ status: 413 });
  });

  it('never writes a password', async () => {
    const { attempt, gateway } = await startRouter();
    const response = await attempt({ ...LIST, credential: { name: 'alice', password: 'hidden-password' } });
    expect(response.json.status).toBe(401);
    const shown = [response.text, ...gateway.log, (await gateway.admin('/metrics')).text].join('\n');
    expect(shown).not.toContain('hidden-password');
    expect(shown).not.toContain(Buffer.from('alice:hidden-password').toString('base64'));
  });

  it('returns the contract with the address of the gateway', async () => {
    const { gateway } = await startRouter();
    const { json } = await gateway.admin('/console/api/contract');
    expect(json).toMatchObject({ gatewayUrl: gateway.url, writable: false, publicBasePath: '' });
  });
});
