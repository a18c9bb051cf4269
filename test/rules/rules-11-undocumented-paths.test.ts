import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { exampleOf } from '../builders/contract-examples.ts';
import { expectError } from '../builders/expect-error.ts';
import { type FakeResponse, type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { knowing } from '../builders/knowing-upstream.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';

const ALLOW = [
  { method: 'GET', path: '/services/v2/question/{id}.json' },
  { method: 'POST', path: '/services/v2/jobs/gdpr/schedule.json', permission: 'Edit users and groups' },
  { method: 'DELETE', path: '/services/v2/node/{id}/**' },
  { method: '*', path: '/services/v2/space.json' },
  { method: 'DELETE', path: '/services/v2/comment/{id}.json' },
];
const SAFE = ['GET', 'HEAD', 'OPTIONS'];
const UNSAFE = ['POST', 'PUT', 'PATCH', 'DELETE'];
const made: FakeResponse = { status: 203, headers: { 'X-Made-By': 'legacy' }, json: { undocumented: true } };

let fake: FakeUpstream;
let strict: TestGateway;
let staging: TestGateway;
let observe: TestGateway;
beforeAll(async () => {
  fake = await startFakeUpstream(() => made, '/qa');
  const config = { undocumented: { allow: ALLOW } };
  strict = await startTestGateway({ upstream: fake, config });
  staging = await startTestGateway({ upstream: fake, config: { ...config, mode: 'staging' } });
  observe = await startTestGateway({ upstream: fake, config: { ...config, mode: 'observe' } });
});
beforeEach(() => {
  fake.requests.length = 0;
  fake.handler = () => made;
});

const schedule = (gateway: TestGateway, user: string | null) =>
  gateway.call('/services/v2/jobs/gdpr/schedule.json', { method: 'POST', user, body: { fileId: 1 } });

const locationOf = async (gateway: TestGateway, target: string, Location: string) => {
  fake.handler = () => ({ status: 302, headers: { Location } });
  const got = await gateway.call(target, { headers: { Host: 'public.example:8443' } });
  return [got.status, got.headers.location];
};

const naming = () =>
  JSON.stringify({ a: `${fake.url}/x.json`, b: `${fake.url}/y`.replaceAll('/', '\\/') }).replaceAll('\\\\', '\\');

const respond = (): FakeResponse => ({ headers: { 'Content-Type': 'application/json', ETag: '"1"' }, body: naming() });

/** Returns the method and target of each upstream request, exactly as the upstream received them. */
const asked = () => fake.requests.map(({ method, target }) => `${method} ${target}`);

describe('rules 11: requests that undocumented.allow names pass at the `enforce` level', () => {
  it.each([
    ['GET', '/services/v2/question/17.json'],
    ['HEAD', '/services/v2/question/17.json'],
    ['GET', '/services/v2/question/a%20b.json?x=1&x=%C3%A9'],
    ['DELETE', '/services/v2/node/17/lock.json'],
    ['DELETE', '/services/v2/node/17/some/way/below'],
    ['PATCH', '/services/v2/space.json'],
    ['OPTIONS', '/services/v2/space.json'],
    ['DELETE', '/services/v2/comment/17.json'],
  ])("%s %s, under the upstream's base path and otherwise unchanged", async (method, target) => {
    const got = await strict.call(target, { method, user: 'bob' });
    expect([got.status, got.headers['x-made-by']]).toEqual([203, 'legacy']);
    expect(asked()).toEqual([`${method} /qa${target}`]);
    expect(fake.requests[0]).toMatchObject({ user: 'bob', password: 'bob' });
  });

  it('with their body and headers, byte for byte', async () => {
    const body = '{"big": 9007199254740993, "big": 1e400 }';
    const headers = { 'Content-Type': 'text/odd; charset=x', 'X-Own': ['1', '2'], Cookie: 'session=1' };
    const got = await strict.call('/services/v2/space.json', { method: 'PUT', headers, body });
    expect(fake.requests[0]?.body.toString()).toBe(body);
    expect(fake.requests[0]?.headers).toMatchObject({
      'content-type': 'text/odd; charset=x',
      'x-own': '1, 2',
      cookie: 'session=1',
    });
    expect(got.text).toBe('{"undocumented":true}');
  });

  it.each([
    ['GET', '/services/v2/question/17.json/'],
    ['GET', '/services/v2/question//.json'],
    ['GET', '/services/v2/question/17/18.json'],
    ['GET', '/services/v2/Question/17.json'],
    ['GET', '/services/v2/question/17.jsonp'],
    ['POST', '/services/v2/question/17.json'],
    ['GET', '/services/v2/node/17/lock.json'],
    ['DELETE', '/services/v2/node/17'],
    ['DELETE', '/services/v2/node//lock.json'],
    ['GET', '/services/v2/auth/token.json'],
    ['GET', '/services/v2'],
    ['GET', '/services/v2/'],
    ['GET', '/'],
  ])('but %s %s, which no entry names, gets 404, and nothing is sent upstream', async (method, target) => {
    expectError(await strict.call(target, { method }), 404, 'not_in_contract');
    expect(asked()).toEqual([]);
  });

  it('but another method on a documented path gets 405 with the permitted methods', async () => {
    const got = await strict.call('/services/v2/question.json', { method: 'DELETE' });
    expectError(got, 405, 'method_not_allowed');
    expect(got.headers.allow).toBe('GET, HEAD');
    expect(got.json.details).toContainEqual({
      in: 'method',
      message: 'other methods are forwarded only with an entry in undocumented.allow',
    });
    expect(asked()).toEqual([]);
  });

  it('and a path outside the base path is not said to need an entry, because no entry can allow it', async () => {
    expect((await strict.call('/services/v2/thing.json')).text).toContain('undocumented.allow');
    expect((await strict.call('/admin')).text).not.toContain('undocumented.allow');
  });

  it('but documented paths go through their plan even if an entry names them', async () => {
    const allow = [{ method: '*', path: '/services/v2/**' }];
    const all = await startTestGateway({ upstream: fake, config: { undocumented: { allow } } });
    expectError(await all.call('/services/v2/idea.json', { user: 'guest' }), 403, 'permission_denied');
    expect(asked()).toEqual([]);
    expect((await all.call('/services/v2/anything', { user: 'guest', method: 'PUT' })).status).toBe(203);
  });

  it('but an entry outside /services/v2/ is a configuration error at startup', async () => {
    const allow = [{ method: 'GET', path: '/admin/users.json' }];
    await expect(startTestGateway({ upstream: fake, config: { undocumented: { allow } } })).rejects.toMatchObject({
      faults: [{ pointer: '/undocumented/allow/0/path' }],
    });
  });
});

describe('rules 11: an entry may require a permission', () => {
  it('that a caller has', async () => {
    expect((await schedule(strict, 'admin')).status).toBe(203);
  });
  it('that a caller lacks: 403 with its name, and nothing is sent upstream', async () => {
    const got = await schedule(strict, 'alice');
    expectError(got, 403, 'permission_denied');
    expect(got.json.details[0]?.permission).toBe('Edit users and groups');
    expect(asked()).toEqual([]);
  });
  it('that needs a credential: 401 without one, even if anonymous callers are allowed', async () => {
    const config = { undocumented: { allow: ALLOW }, authentication: { anonymous: 'allow' } };
    const open = await startTestGateway({ upstream: fake, config });
    expectError(await schedule(open, null), 401, 'credentials_required');
    expect(asked()).toEqual([]);
    expect((await open.call('/services/v2/question/17.json', { user: null })).status).toBe(203);
    expect(fake.requests[0]?.user).toBeUndefined();
  });
  it('that is only reported if `permissions` is `report`', async () => {
    const config = { undocumented: { allow: ALLOW }, checks: { permissions: 'report' } };
    const reporting = await startTestGateway({ upstream: fake, config });
    const got = await schedule(reporting, 'alice');
    expect(got.status).toBe(203);
    const line = await reporting.lineOf(String(got.headers['x-request-id']));
    expect(line).toMatchObject({ checks: { permissions: 'reported' } });
  });
  it('that no role has, perhaps because it is misspelled: only the super user gets access', async () => {
    const allow = [{ method: 'GET', path: '/services/v2/a.json', permission: 'Edit users and grops' }];
    const gateway = await startTestGateway({ upstream: fake, config: { undocumented: { allow } } });
    expectError(await gateway.call('/services/v2/a.json', { user: 'moderator' }), 403, 'permission_denied');
    expect((await gateway.call('/services/v2/a.json', { user: 'admin' })).status).toBe(203);
  });
});

describe('rules 11: outside observe mode, passthrough is limited to /services/v2/', () => {
  const outside = ['/', '/index.html', '/services/v1/question.json', '/services/v20/a.json', '/qa/services/v2/a.json'];

  it.each(['strict', 'staging'])('%s refuses all other paths', async (mode) => {
    const gateway = mode === 'strict' ? strict : staging;
    for (const target of outside)
      for (const method of [...SAFE, ...UNSAFE])
        if (method !== 'HEAD') expectError(await gateway.call(target, { method }), 404, 'not_in_contract');
    expect(asked()).toEqual([]);
  });
  it('with undocumented off too', async () => {
    const off = await startTestGateway({ upstream: fake, config: { checks: { undocumented: 'off' } } });
    for (const target of outside) expectError(await off.call(target), 404, 'not_in_contract');
    expect(asked()).toEqual([]);
    expect((await off.call('/services/v2/a.json')).status).toBe(203);
  });
  it("but observe mode lets everything through, still under the upstream's base path", async () => {
    for (const target of outside) expect((await observe.call(target, { method: 'DELETE' })).status).toBe(203);
    expect(asked()).toEqual(outside.map((target) => `DELETE /qa${target}`));
  });
});

describe('rules 11: unsafe methods always need an entry', () => {
  it.each(UNSAFE)('%s is refused without one in strict and staging mode, and with undocumented off', async (method) => {
    const off = await startTestGateway({ upstream: fake, config: { checks: { undocumented: 'off' } } });
    for (const gateway of [strict, staging, off])
      expectError(await gateway.call('/services/v2/topic.json', { method }), 404, 'not_in_contract');
    expect(asked()).toEqual([]);
  });
  it('passes with one in staging mode', async () => {
    expect((await staging.call('/services/v2/node/17/lock.json', { method: 'DELETE' })).status).toBe(203);
  });
  it.each(SAFE)('%s needs none in staging mode, and is reported', async (method) => {
    const got = await staging.call('/services/v2/topic.json', { method });
    expect(got.status).toBe(203);
    const line = await staging.lineOf(String(got.headers['x-request-id']));
    expect(line).toMatchObject({ route: 'passthrough', checks: { undocumented: 'reported' } });
  });
  it('a method override does not change its method', async () => {
    const headers = { 'X-HTTP-Method-Override': 'DELETE', 'X-HTTP-Method': 'DELETE', 'X-Method-Override': 'DELETE' };
    expect((await strict.call('/services/v2/question/17.json', { headers })).status).toBe(203);
    expect(JSON.stringify(fake.requests[0]?.rawHeaders)).not.toContain('DELETE');
  });
});

describe('rules 11: undocumented paths require a credential too', () => {
  it('a missing or wrong one gets 401, and the request is not forwarded', async () => {
    const target = '/services/v2/question/17.json';
    expectError(await strict.call(target, { user: null }), 401, 'credentials_required');
    expectError(await strict.call(target, { user: 'bob', password: 'bop' }), 401, 'credentials_refused');
    expect(asked()).toEqual([]);
  });
  it('an upstream that requires the credential gets the call of a caller it knows', async () => {
    const real = await startFakeUpstream(knowing(() => made));
    const config = { mode: 'strict', undocumented: { allow: ALLOW } };
    const gateway = await startTestGateway({ upstream: real, real: true, config });
    expect((await gateway.call('/services/v2/question/17.json', { user: 'zoe' })).status).toBe(203);
    expectError(
      await gateway.call('/services/v2/question/17.json', { user: 'zoe', password: 'x' }),
      401,
      'credentials_refused',
    );
  });
});

describe('rules 11: Location is rewritten to the public address', () => {
  let atPath: TestGateway;
  beforeAll(async () => {
    const config = {
      publicBasePath: '/api',
      mode: 'staging',
      upstream: { legacyOrigins: ['http://old.example.org'] },
    };
    atPath = await startTestGateway({ upstream: fake, config });
  });

  it.each([
    ['of the upstream itself', () => `${fake.url}/services/v2/a.json?x=1#y`, '/services/v2/a.json?x=1#y'],
    ['of a configured legacy origin', () => 'http://old.example.org/qa/services/v2/a.json', '/services/v2/a.json'],
    ['with the other scheme', () => 'https://OLD.example.org/qa/services/v2/a.json', '/services/v2/a.json'],
    ['without a scheme', () => '//old.example.org/qa/services/v2/a.json', '/services/v2/a.json'],
  ])('%s', async (_name, location, expected) => {
    expect(await locationOf(atPath, '/api/services/v2/a.json', location())).toEqual([
      302,
      `http://public.example:8443/api${expected}`,
    ]);
  });
  it("if it is only a path under the upstream's base path", async () => {
    const got = await locationOf(atPath, '/api/services/v2/a.json', '/qa/services/v2/b.json');
    expect(got).toEqual([302, '/api/services/v2/b.json']);
  });
  it.each([
    'https://elsewhere.example/qa/x',
    'http://old.example.org.evil.example/qa/x',
    'http://old.example.org/other/x',
    '../c.json',
  ])('but not otherwise: %s', async (location) => {
    expect(await locationOf(atPath, '/api/services/v2/a.json', location)).toEqual([302, location]);
  });
  it('but remains unchanged in observe mode', async () => {
    const location = `${fake.url}/services/v2/a.json`;
    expect(await locationOf(observe, '/services/v2/a.json', location)).toEqual([302, location]);
  });
});

describe('rules 11: absolute legacy addresses in bodies', () => {
  const target = '/services/v2/question/17.json';

  it('are reported and left unchanged', async () => {
    fake.handler = respond;
    const got = await strict.call(target);
    expect([got.text, got.headers.etag]).toEqual([naming(), '"1"']);
    expect(await strict.lineOf(String(got.headers['x-request-id']))).toMatchObject({ legacyAddress: true });
  });
  it('are the only reason for a report', async () => {
    const got = await strict.call(target);
    expect(await strict.lineOf(String(got.headers['x-request-id']))).not.toHaveProperty('legacyAddress');
  });
  it('are rewritten with rewriteUrls: true, in the form in which they are written', async () => {
    const config = { undocumented: { allow: ALLOW }, rewriteUrls: true, publicBasePath: '/api' };
    const rewriting = await startTestGateway({ upstream: fake, config });
    fake.handler = respond;
    const got = await rewriting.call(`/api${target}`, { headers: { Host: 'public.example' } });
    expect(got.text).toBe('{"a":"http://public.example/api/x.json","b":"http:\\/\\/public.example\\/api\\/y"}');
    expect(got.complete).toBe(true);
  });
  it('cannot be rewritten in observe mode, which changes nothing: a configuration error at startup', async () => {
    const config = { mode: 'observe', rewriteUrls: true };
    await expect(startTestGateway({ upstream: fake, config })).rejects.toMatchObject({
      faults: [{ pointer: '/rewriteUrls' }],
    });
    fake.handler = respond;
    expect((await observe.call(target)).text).toBe(naming());
  });
  it('in documented responses are rewritten only with rewriteUrls: true', async () => {
    const config = { rewriteUrls: true };
    const rewriting = await startTestGateway({ upstream: fake, config });
    const executionURL = `${fake.url}/services/v2/e.json`;
    const executions = [{ userId: 18, executionStatus: 'FINISHED', executionURL }];
    const json = { ...exampleOf('getGdprJob'), status: 'FINISHED', executions };
    fake.handler = () => ({ json });
    const path = '/services/v2/jobs/gdpr/42.json';
    expect((await strict.call(path)).text).toContain(executionURL);
    const got = await rewriting.call(path, { headers: { Host: 'public.example' } });
    expect(got.text).toContain('"http://public.example/services/v2/e.json"');
    expect(got.text).not.toContain(fake.url);
  });
});
