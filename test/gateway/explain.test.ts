import { describe, expect, it } from 'vitest';
import type { ExplainRequest } from '../../src/engine/pipeline/dry-run.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { startFakeUpstream } from '../builders/fake-upstream.ts';
import { startFleet } from '../builders/fleet.ts';
import { needsProgram } from '../builders/needs-program.ts';
import { startRedisServer } from '../builders/redis-server.ts';
import { createTestClock } from '../builders/test-clock.ts';
import { startTestGateway, type TestGateway, type TestGatewayOptions } from '../builders/test-gateway.ts';

const LIST = '/services/v2/question.json';
const UPLOAD = { method: 'POST', target: '/services/v2/users/gdpr/upload.json', as: 'admin' };
const CSV = '{"content":"username\\nalice\\n"}';

const like = (pattern: RegExp) => expect.stringMatching(pattern) as string;

/** Returns the texts of an explanation's steps, keyed by their names. Texts of steps with the same name are joined. */
async function explained({ gateway }: TestGateway, request: Partial<ExplainRequest> = {}) {
  const steps = await gateway.explain({ method: 'GET', target: LIST, as: 'alice', ...request });
  const texts: Record<string, string> = {};
  for (const { name, text } of steps) texts[name] = name in texts ? `${texts[name]}; ${text}` : text;
  return texts;
}

const verdict = async (gateway: TestGateway, request: Partial<ExplainRequest> = {}) =>
  (await explained(gateway, request))['verdict'];

/** Starts a gateway in front of an upstream with documented responses. */
async function start(options: Partial<TestGatewayOptions> = {}) {
  const upstream = await startFakeUpstream(exampleResponse);
  return { upstream, gateway: await startTestGateway({ upstream, ...options }) };
}

describe('the explanation of a documented request', () => {
  it('lists what every stage decides, without sending a request', async () => {
    const { gateway, upstream } = await start();
    expect(await explained(gateway, { target: `${LIST}?page=1&q=x` })).toMatchObject({
      request: `GET ${LIST}?page=1&q=x`,
      caller: 'alice (verified)',
      operation: 'listQuestions (row 6), stated',
      mode: 'strict',
      checks:
        'authentication enforce, requests enforce, responses report, permissions enforce, pageBounds enforce, undocumented enforce',
      errors: 'normalized',
      translation: like(/redirects.* become 502.*operations: \{ listQuestions: \{ errors: legacy \} \} keeps them/),
      plan: like(/^authorize → .* → forward$/),
      credential: 'treated as verified',
      parameters: 'page=1, q=x',
      rule: '"View the questions list"',
      permission: 'allowed: View the questions list',
      'page bounds': "page 1, pageSize the upstream's default",
      upstream: `GET ${LIST}?q=x`,
      'cache key': expect.stringContaining(`"listQuestions","caller:verified:user:alice","${LIST}?q=x"`) as string,
      verdict: 'forwarded (cache: miss)',
    });
    expect(upstream.requests).toEqual([]);
  });

  it('foretells a refusal of a page beyond the page count that the gateway has learned', async () => {
    const { gateway } = await start();
    expect(await verdict(gateway, { target: `${LIST}?page=99` })).toMatch(/^forwarded/);
    await gateway.call(LIST, { user: 'alice' });
    const beyond = await explained(gateway, { target: `${LIST}?page=99` });
    expect(beyond['verdict']).toMatch(/^400 page_out_of_bounds: page 99 exceeds the page count, \d+$/);
    expect(beyond['to allow it']).toBe('operations: { listQuestions: { checks: { pageBounds: report } } }');
    expect((await gateway.call(`${LIST}?page=99`, { user: 'alice' })).json).toMatchObject({
      code: 'page_out_of_bounds',
    });
  });

  // The check of the parameters reports such a page, but the page bounds still refuse it.
  it('foretells that the page bounds refuse a page that the parameter check only reports', async () => {
    const { gateway } = await start({ config: { checks: { requests: 'report' } } });
    for (const page of ['-1', '99999999999999999999', '1&page=2']) {
      expect(await verdict(gateway, { target: `${LIST}?page=${page}` }), page).toMatch(/^400 page_out_of_bounds/);
      expect((await gateway.call(`${LIST}?page=${page}`, { user: 'alice' })).status, page).toBe(400);
    }
  });

  it('foretells which page is served from the cache, even if it is stale', async () => {
    const clock = createTestClock();
    const { gateway, upstream } = await start({ clock });
    await gateway.call(LIST, { user: 'alice' });
    clock.advance(10);
    expect(await verdict(gateway)).toBe('served from the cache (hit, 10 s old)');
    expect(await verdict(gateway, { as: 'admin' })).toMatch(/^forwarded/);
    clock.advance(25);
    expect(await verdict(gateway)).toBe('served from the cache (stale, 35 s old)');
    clock.advance(200);
    expect(await verdict(gateway)).toBe('forwarded (cache: miss, stale)');
    // Explaining a stale page must not refresh it.
    expect(upstream.requests).toHaveLength(1);
  });

  it('foretells that a page that keeps failing is refused', async () => {
    const { gateway, upstream } = await start({ config: { cache: { failures: { after: 1, seconds: 60 } } } });
    upstream.handler = () => ({ status: 500 });
    await gateway.call(LIST, { user: 'alice' });
    expect(await verdict(gateway)).toMatch(/^503 upstream_page_failing/);
  });

  it('foretells an exhausted budget without using the budget', async () => {
    const rateLimits = [{ name: 'few', requests: 1, windowSeconds: 600, per: 'caller' }];
    const { gateway } = await start({ config: { rateLimits } });
    for (let count = 0; count < 3; count += 1) expect(await verdict(gateway)).toMatch(/^forwarded/);
    expect((await gateway.call(LIST, { user: 'alice' })).status).toBe(200);
    expect(await explained(gateway)).toMatchObject({
      'rate limit': 'few: 1 requests in 600 s per caller',
      verdict: like(/^429 rate_limited/),
      'to allow it': like(/^wait \d+ s, or change rateLimits$/),
    });
    expect(await verdict(gateway, { as: 'admin' })).toMatch(/^forwarded/);
  });

  it('checks the body, and foretells that a repeated upload is refused', async () => {
    const { gateway } = await start();
    const headers = { 'Content-Type': 'application/json' };
    expect(await verdict(gateway, UPLOAD)).toMatch(/^400 invalid_body: The request body is missing/);
    const upload = { ...UPLOAD, headers, body: CSV };
    for (let count = 0; count < 2; count += 1) expect(await verdict(gateway, upload)).toBe('forwarded');
    expect((await gateway.call(UPLOAD.target, { method: 'POST', headers, body: CSV })).status).toBe(201);
    expect(await verdict(gateway, upload)).toMatch(/^409 duplicate_upload/);
    expect(await verdict(gateway, { ...upload, headers: { ...headers, 'Portico-Force': 'true' } })).toBe('forwarded');
  });

  it('is undecided if the gateway would first ask the upstream', async () => {
    const { gateway, upstream } = await start({ config: { contract: { inferred: true } } });
    const edit = { method: 'PUT', target: '/services/v2/comment/271.json', body: '{"body":"Hi"}' };
    const { permission, verdict: shown } = await explained(gateway, edit);
    expect(permission).toBe('undecided: ownership');
    expect(shown).toBe(
      'undecided: the gateway would first ask the upstream (GET /services/v2/comment/271.json); without its response: forwarded',
    );
    expect(upstream.requests).toEqual([]);
  });

  it('considers every password correct, but only for accounts that can log in', async () => {
    const { gateway } = await start();
    expect(await explained(gateway, { as: 'stranger' })).toMatchObject({
      caller: 'stranger (refused)',
      verdict: like(/^401 credentials_refused/),
    });
  });

  it('treats callers as unverified where the gateway does not verify them', async () => {
    const { gateway } = await start({ config: { checks: { authentication: 'off' } } });
    expect(await explained(gateway)).toMatchObject({
      caller: 'alice (unverified)',
      credential: 'not verified; pages and page counts remembered for it are unknown',
    });
  });

  it('refuses what every mode refuses', async () => {
    const { gateway } = await start({ config: { mode: 'observe' } });
    expect(await verdict(gateway, { target: '/services/v2/..;/admin' })).toMatch(/^400 unsafe_path/);
    expect(await verdict(gateway, { target: `${LIST}?${'q'.repeat(20_000)}` })).toMatch(/^414 target_too_long/);
  });

  it('expects targets to begin with the public base path', async () => {
    const { gateway } = await start({ config: { publicBasePath: '/qa' } });
    expect(await verdict(gateway)).toMatch(/^404 not_in_contract: Addresses of this gateway start with \/qa/);
    expect((await explained(gateway, { target: `/qa${LIST}` }))['upstream']).toBe(`GET ${LIST}`);
  });

  it('omits page bounds for operations without pages, and explains HEAD as GET', async () => {
    const { gateway } = await start();
    const job = await explained(gateway, { method: 'HEAD', target: '/services/v2/jobs/gdpr/42.json' });
    expect(job).toMatchObject({ operation: like(/^getGdprJob/), 'cache key': 'not stored' });
    expect(job).not.toHaveProperty('page bounds');
  });

  it('lists what is only reported', async () => {
    const { gateway } = await start({ config: { mode: 'observe', checks: { permissions: 'report' } } });
    const { reported, verdict: shown } = await explained(gateway, { target: `${LIST}?colour=red&pageSize=500` });
    expect(reported).toMatch(/colour is not a known parameter.*; pageSize must be an integer from 1 to 100/);
    expect(shown).toBe('forwarded unchanged');
  });
});

describe('the explanation of an undocumented request', () => {
  const allow = [{ method: 'GET', path: '/services/v2/export/{id}.json', permission: 'View analytics' }];
  const target = '/services/v2/export/7.json';

  it('foretells that a caller without the permission of the entry is refused', async () => {
    const { gateway } = await start({ config: { undocumented: { allow } } });
    expect(await explained(gateway, { target })).toMatchObject({
      operation: 'not in the contract',
      permission: 'denied: View analytics missing',
      verdict: like(/^403 permission_denied/),
    });
    expect((await gateway.call(target, { user: 'alice' })).status).toBe(403);
    expect(await explained(gateway, { target, as: 'admin' })).toMatchObject({
      permission: 'allowed: View analytics',
      upstream: `GET ${target}`,
      verdict: 'forwarded unchanged',
    });
  });

  it('reports a passing request', async () => {
    const { gateway } = await start({ config: { mode: 'staging' } });
    expect(await explained(gateway, { target })).toMatchObject({
      reported: 'The contract does not have this path.',
      verdict: 'forwarded unchanged, reported',
    });
  });

  it('lists the methods that would be allowed', async () => {
    const { gateway } = await start();
    expect(await verdict(gateway, { method: 'DELETE' })).toMatch(/^405 method_not_allowed, Allow: GET, HEAD: /);
  });
});

needsProgram('redis', 'the explanations of gateways with the same Redis', (path) => {
  it('foretell what follows from the state of the other gateways, and leave it unchanged', async () => {
    const [server, upstream] = [await startRedisServer(path), await startFakeUpstream(exampleResponse)];
    const rateLimits = [{ name: 'few', requests: 3, windowSeconds: 600, per: 'caller' }];
    const config = { rateLimits, cache: { staleWhileRevalidateSeconds: 0 } };
    const [first, second] = (await startFleet(2, server, upstream, { config })) as [TestGateway, TestGateway];
    const headers = { 'Content-Type': 'application/json' };
    const upload = { ...UPLOAD, headers, body: CSV };
    for (let count = 0; count < 4; count += 1) {
      expect(await verdict(second)).toMatch(/^forwarded/);
      expect(await verdict(second, upload)).toBe('forwarded');
    }
    await first.call(LIST, { user: 'alice' });
    expect(await verdict(second)).toMatch(/^served from the cache/);
    expect(await verdict(second, { target: `${LIST}?page=99` })).toMatch(/^400 page_out_of_bounds/);
    expect(second.gateway.services.cache.stats().entries).toBe(0);
    expect(second.gateway.services.pageCounts.counts.size).toBe(0);
    await first.call(UPLOAD.target, { method: 'POST', headers, body: CSV });
    expect(await verdict(second, upload)).toMatch(/^409 duplicate_upload/);
    await first.call(LIST, { user: 'alice' });
    expect(await verdict(second)).toMatch(/^served from the cache/);
    await first.call(LIST, { user: 'alice' });
    expect(await verdict(second)).toMatch(/^429 rate_limited/);
  });
});
