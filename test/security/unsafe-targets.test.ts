import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { exampleAnswer } from '../builders/example-answer.ts';
import { expectError } from '../builders/expect-error.ts';
import { type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';

/*
 * The attack: a target that the gateway takes for an allowed one and the upstream for another: by dot segments, by
 * separators that are encoded or of the other kind, by path parameters that a Tomcat cuts off, by a host in the target.
 */

let fake: FakeUpstream;
let gateway: TestGateway;
let prefixed: TestGateway;
beforeAll(async () => {
  fake = await startFakeUpstream(exampleAnswer, '/qa');
  const allow = [{ method: '*', path: '/services/v2/**' }];
  gateway = await startTestGateway({ upstream: fake, config: { undocumented: { allow } } });
  prefixed = await startTestGateway({ upstream: fake, config: { undocumented: { allow }, publicBasePath: '/forum' } });
});
beforeEach(() => {
  fake.requests.length = 0;
});

describe('a target that leaves its folder, in whatever spelling', () => {
  it.each([
    '/services/v2/../../admin.json',
    '/services/v2/..',
    '/services/v2/../v2/question.json',
    '/services/v2/./question.json',
    '/services/v2/question.json/.',
    '/services/v2/%2e%2e/%2E%2E/admin.json',
    '/services/v2/.%2e/admin.json',
    '/services/v2/%2e./admin.json',
    '/services/v2/%2e/question.json',
    '/services/v2/..;/admin.json',
    '/services/v2/..;jsessionid=1/admin.json',
    '/services/v2/%2e%2e;x/admin.json',
    '/services/v2/..%3Bx/admin.json',
    '/services/v2/.;/question.json',
    '/services/v2/..\\admin.json',
    '/services/v2\\..\\..\\admin.json',
    '/services/v2/%5c..%5cadmin.json',
    '/services/v2/..%5cadmin.json',
    '/services/v2/..%2fadmin.json',
    '/services/v2/..%2F..%2Fadmin.json',
    '/services/v2/comment/..%2f..%2fadmin.json',
    '/services/v2/comment/1%2f2.json',
    '/services/v2/comment/1%00.json',
    '/services/v2/question.json%00.html',
    '/services/v2/question.json#/../x',
  ])('%s is refused', async (target) => {
    for (const [one, path] of [
      [gateway, target],
      [prefixed, `/forum${target}`],
    ] as const) {
      expectError(await one.call(path), 400, 'unsafe_path');
    }
    expect(fake.requests).toHaveLength(0);
  });
});

describe('a target that names a host', () => {
  it.each([
    '//evil.example/services/v2/space.json',
    '///evil.example/services/v2/space.json',
    '/\\evil.example/services/v2/space.json',
    '/@evil.example/services/v2/space.json',
    '/:80@evil.example/services/v2/space.json',
  ])('%s is a path like any other, and not in the contract', async (target) => {
    const got = await gateway.call(target);
    expect([400, 404]).toContain(got.status);
    expect(fake.requests).toHaveLength(0);
  });

  it.each([
    'http://evil.example/services/v2/space.json',
    'HTTP://evil.example:81/services/v2/space.json',
    'https://user@evil.example/services/v2/space.json',
  ])('%s, in absolute form, goes to the configured upstream by its path', async (target) => {
    await gateway.call(target);
    expect(fake.requests.map((request) => [request.target, request.headers.host])).toEqual([
      ['/qa/services/v2/space.json', new URL(fake.url).host],
    ]);
  });

  it.each([
    'ftp://evil.example/services/v2/space.json',
    'evil.example/services/v2/space.json',
    'http:/services/v2/space.json',
    '*',
  ])('%s is refused', async (target) => {
    const got = await gateway.call(target, { method: target === '*' ? 'OPTIONS' : 'GET' });
    expect([400, 404]).toContain(got.status);
    expect(fake.requests).toHaveLength(0);
  });

  it('in observe, a second slash or an @ in front never changes the host', async () => {
    const observing = await startTestGateway({ upstream: fake, real: true });
    const targets = [
      '//evil.example/a',
      '/@evil.example/a',
      '/\\evil.example/a',
      'http://evil.example//other.example/a',
      '/http://evil.example/a',
    ];
    for (const target of targets) await observing.call(target);
    expect(fake.requests.map((request) => [request.target, request.headers.host])).toEqual(
      ['//evil.example/a', '/@evil.example/a', '/\\evil.example/a', '//other.example/a', '/http://evil.example/a'].map(
        (path) => [`/qa${path}`, new URL(fake.url).host],
      ),
    );
  });
});

describe('the base path of the upstream', () => {
  it('cannot be left by what an allow entry matches', async () => {
    const lax = await startTestGateway({
      upstream: fake,
      config: { undocumented: { allow: [{ method: 'GET', path: '/services/v2/file/{name}' }] } },
    });
    const ok = await lax.call('/services/v2/file/a.b..c');
    expect([ok.status, fake.requests.at(-1)?.target]).toEqual([404, '/qa/services/v2/file/a.b..c']);
    fake.requests.length = 0;
    for (const name of ['..', '%2e%2e', 'a%2f..', '..;a', 'a/b', '']) {
      const got = await lax.call(`/services/v2/file/${name}`);
      expect([name, got.status >= 400 && got.json.code !== undefined]).toEqual([name, true]);
    }
    expect(fake.requests).toHaveLength(0);
  });
});

describe('a method that another one hides in', () => {
  it.each(['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override'])(
    '%s does not reach the upstream',
    async (name) => {
      for (const target of ['/services/v2/question.json', '/services/v2/space.json']) {
        await gateway.call(target, { headers: { [name]: 'DELETE' } });
        expect(fake.requests.at(-1)?.headers[name.toLowerCase()]).toBeUndefined();
      }
    },
  );
  it('the method is compared with its case', async () => {
    expect((await gateway.call('/services/v2/node/118/cancelwiki.json', { method: 'PUT' })).status).toBe(200);
    const lower = await gateway.call('/services/v2/node/118/cancelwiki.json', { method: 'PROPFIND' });
    expect(lower.status).not.toBe(200);
  });
});
