import { beforeAll, describe, expect, it } from 'vitest';
import { exampleOf } from '../builders/contract-examples.ts';
import { type FakeResponse, type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';

/*
 * The attack: the upstream responds to a documented request with a body that is not JSON and contains a user's text: a
 * title, a comment or a search term. If the body has no type or is labeled as plain text, a browser that opens it may
 * guess that it is a page and run the user's text as a script on the public host. The level of the `responses` check
 * determines whether the response is forwarded. If it is, a header tells the browser not to guess.
 */

const LIST = '/services/v2/question.json';
const PASSED = '/services/v2/any.json';
const PAGE = '<!doctype html><title>x</title><script>alert(1)</script>';
const html = { 'Content-Type': 'text/html' };

let fake: FakeUpstream;
const gateways = new Map<string, TestGateway>();
beforeAll(async () => {
  fake = await startFakeUpstream(() => ({ status: 404 }));
  const undocumented = { allow: [{ method: '*', path: '/services/v2/**' }] };
  for (const mode of ['observe', 'staging', 'strict'])
    gateways.set(mode, await startTestGateway({ upstream: fake, config: { mode, undocumented } }));
  gateways.set(
    'enforce',
    await startTestGateway({ upstream: fake, config: { undocumented, checks: { responses: 'enforce' } } }),
  );
});
const call = async (name: string, target: string, response: FakeResponse) => {
  fake.handler = () => response;
  return (gateways.get(name) as TestGateway).call(target);
};

describe.each(['observe', 'staging', 'strict'])('in %s', (mode) => {
  it('an HTML page with 200 is forwarded unchanged, reported and not stored, with nosniff', async () => {
    for (const body of [PAGE, `${PAGE} again`]) {
      const response = await call(mode, LIST, { headers: html, body });
      expect([response.status, response.headers['content-type'], response.text]).toEqual([200, 'text/html', body]);
      expect(response.headers['x-content-type-options']).toBe('nosniff');
      expect(response.headers['contract-status']).toMatch(/^violations/);
    }
  });

  it.each([
    ['plain text', { 'Content-Type': 'text/plain' }],
    ['a type that starts like JSON', { 'Content-Type': 'application/jsonx' }],
    ['no type at all', {}],
  ])('%s is forwarded with nosniff too', async (_name, headers) => {
    const response = await call(mode, LIST, { headers, body: PAGE });
    expect([response.status, response.headers['x-content-type-options']]).toEqual([200, 'nosniff']);
  });

  // If a response contains two `Content-Type` headers, a browser may use either of them, so Portico must consider both.
  it.each([
    ['text/html second', ['application/json', 'text/html']],
    ['text/html first', ['text/html', 'application/json']],
    ['parameters', ['application/json;charset=utf-8', 'text/html;charset=utf-8']],
  ])('two different types are reported and never stored, with nosniff: %s', async (_name, types) => {
    const json = JSON.stringify(exampleOf('listQuestions'));
    const target = `${LIST}?pageSize=7`;
    for (const body of [json, `${json} `]) {
      const response = await call(mode, target, { headers: { 'Content-Type': types }, body });
      expect([response.status, response.text, response.headers['x-content-type-options']]).toEqual([
        200,
        body,
        'nosniff',
      ]);
      expect(response.headers['contract-status']).toMatch(/^violations/);
    }
  });

  it('the same type twice counts once', async () => {
    const types = ['application/json', 'Application/JSON; charset=utf-8'];
    const json = JSON.stringify(exampleOf('listQuestions'));
    const response = await call(mode, LIST, { headers: { 'Content-Type': types }, body: json });
    expect(response.headers).not.toHaveProperty('x-content-type-options');
    expect(response.headers['contract-status']).not.toMatch(/^violations/);
  });

  it.each(['application/json', 'application/json;charset=UTF-8', 'application/problem+json'])(
    '%s is left unchanged',
    async (type) => {
      const response = await call(mode, LIST, { headers: { 'Content-Type': type }, body: '{}' });
      expect(response.headers).not.toHaveProperty('x-content-type-options');
    },
  );

  it('undocumented responses are left unchanged, because a legacy site may depend on sniffing', async () => {
    const response = await call(mode, PASSED, { headers: html, body: PAGE });
    expect([response.text, response.headers['x-content-type-options']]).toEqual([PAGE, undefined]);
  });
});

describe('in observe mode', () => {
  it('the upstream’s own header is neither duplicated nor replaced', async () => {
    const headers = { ...html, 'X-Content-Type-Options': 'upstream' };
    const response = await call('observe', LIST, { headers, body: PAGE });
    expect(response.headers['x-content-type-options']).toBe('upstream');
  });

  it('an error page is forwarded with nosniff', async () => {
    const response = await call('observe', LIST, { status: 401, headers: html, body: PAGE });
    expect([response.status, response.text, response.headers['x-content-type-options']]).toEqual([
      401,
      PAGE,
      'nosniff',
    ]);
  });
});

describe('with enforced responses', () => {
  it('two different types become a 502', async () => {
    const types = ['application/json', 'text/html'];
    const response = await call('enforce', LIST, {
      headers: { 'Content-Type': types },
      body: JSON.stringify(exampleOf('listQuestions')),
    });
    expect([response.status, response.json?.code]).toEqual([502, 'upstream_invalid_response']);
  });

  it("an HTML page with 200 becomes a 502 with Portico's own text", async () => {
    const response = await call('enforce', LIST, { headers: html, body: PAGE });
    expect([response.status, response.json?.code]).toEqual([502, 'upstream_invalid_response']);
    expect(response.text).not.toContain('script');
  });
});
