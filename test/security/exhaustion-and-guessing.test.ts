import { readFileSync } from 'node:fs';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { basic } from '../builders/call.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { expectError } from '../builders/expect-error.ts';
import { type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { knowing, PROBE } from '../builders/knowing-upstream.ts';
import { createTestClock } from '../builders/test-clock.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';
import { until } from '../builders/until.ts';
import { connectRaw, sendRaw } from '../engine/upstream/support/raw-client.ts';

/*
 * Two attacks. Exhaustion: endless targets, headers and bodies, or bodies sent one byte at a time, use up memory and
 * slots that other callers need. Guessing: an attacker tries passwords, or name and password pairs stolen elsewhere,
 * until one works, and each attempt makes Portico compute a slow hash. Limits that are cheap to check stop both
 * attacks.
 */

const UPLOAD = '/services/v2/users/gdpr/upload.json';
const COMMENT = '/services/v2/comment/271.json';
const ALLOW = [{ method: '*', path: '/services/v2/**' }];

let fake: FakeUpstream;
let strict: TestGateway;
let observe: TestGateway;
beforeAll(async () => {
  fake = await startFakeUpstream(exampleResponse);
  const config = { listen: { maxBodyBytes: 2048 }, undocumented: { allow: ALLOW } };
  strict = await startTestGateway({ upstream: fake, config });
  observe = await startTestGateway({ upstream: fake, config: { ...config, mode: 'observe' } });
});
beforeEach(() => {
  fake.requests.length = 0;
  fake.handler = exampleResponse;
});
const portOf = (gateway: TestGateway) => Number(new URL(gateway.url).port);
const both = () => [strict, observe];

describe('sizes', () => {
  it('a target over the limit gets 414 in every mode, and nothing is sent upstream', async () => {
    for (const gateway of both())
      for (const target of [`${COMMENT}?q=${'a'.repeat(8200)}`, `/services/v2/${'a/'.repeat(4100)}`])
        expect((await gateway.call(target)).status).toBe(414);
    expect(fake.requests).toEqual([]);
  });
  it('a target just below the limit is read', async () => {
    const q = `${COMMENT}?include=${'a'.repeat(8192 - COMMENT.length - 9)}`;
    expect((await observe.call(q)).status).toBe(200);
    expect((await observe.call(`${q}a`)).status).toBe(414);
  });
  it('headers over the limit get 431 in every mode, one or many, and nothing is sent upstream', async () => {
    const one = [`X-A: ${'a'.repeat(17_000)}`];
    const many = Array.from({ length: 2000 }, (_, at) => `X-${at}: ${at}`);
    for (const gateway of both())
      for (const fields of [one, many]) {
        const text = await sendRaw(portOf(gateway), `GET ${COMMENT} HTTP/1.1`, 'Host: x', ...fields, '', '');
        expect(text).toMatch(/^HTTP\/1\.1 431 /);
      }
    expect(fake.requests).toEqual([]);
  });
  it('a body over the limit gets 413 if bodies are checked, in any framing, and nothing is sent upstream', async () => {
    const body = JSON.stringify({ content: `username\n${'a'.repeat(3000)}\n` });
    expectError(await strict.call(UPLOAD, { method: 'POST', body }), 413, 'body_too_large');
    const client = await connectRaw(portOf(strict));
    client.send(
      `POST ${UPLOAD} HTTP/1.1`,
      'Host: x',
      `Authorization: ${basic('admin')}`,
      'Transfer-Encoding: chunked',
      '',
      '',
    );
    for (let part = 0; part < 4; part += 1) client.send('400', 'a'.repeat(1024), '');
    expect(await client.until(/\r\n\r\n/)).toMatch(/^HTTP\/1\.1 413 /);
    client.socket.destroy();
    expect(fake.requests).toEqual([]);
  });
  it('a body with a declared length over the limit is refused before it arrives', async () => {
    const client = await connectRaw(portOf(strict));
    client.send(
      `POST ${UPLOAD} HTTP/1.1`,
      'Host: x',
      `Authorization: ${basic('admin')}`,
      'Content-Type: application/json',
      'Content-Length: 999999999',
      '',
      '{"content":"',
    );
    client.send('a'.repeat(4096));
    expect(await client.until(/\r\n\r\n/)).toMatch(/^HTTP\/1\.1 413 /);
    client.socket.destroy();
    expect(fake.requests).toEqual([]);
  });
  it('a body with many members or great depth is refused or forwarded, and the gateway keeps responding', async () => {
    const config = { listen: { maxBodyBytes: 1_048_576 } };
    const roomy = await startTestGateway({ upstream: fake, config });
    const bodies = [
      '['.repeat(200_000),
      `{"content":${'['.repeat(50_000)}${']'.repeat(50_000)}}`,
      `{${Array.from({ length: 50_000 }, (_, at) => `"k${at}":1`).join()}}`,
    ];
    for (const body of bodies)
      expectError(
        await roomy.call(UPLOAD, { method: 'POST', body, headers: { 'Content-Type': 'application/json' } }),
        400,
        'invalid_body',
      );
    expect((await roomy.call(COMMENT)).status).toBe(200);
  });
  it('an excessive number of query parameters is refused', async () => {
    const query = Array.from({ length: 500 }, (_, at) => `topics=${at}`).join('&');
    const got = await strict.call(`/services/v2/question.json?${query}`);
    expectError(got, 400, 'invalid_parameter');
    expect(got.json.details.length).toBeLessThanOrEqual(20);
    expect(fake.requests).toEqual([]);
  });
});

describe('slow bodies', () => {
  it('hold no upstream slot while they are checked before forwarding', async () => {
    const narrow = await startTestGateway({ upstream: fake, config: { upstream: { concurrency: 1, queue: 0 } } });
    const slow = await connectRaw(portOf(narrow));
    slow.send(
      `POST ${UPLOAD} HTTP/1.1`,
      'Host: x',
      `Authorization: ${basic('admin')}`,
      'Content-Length: 100',
      '',
      '{"content":',
    );
    expect((await narrow.call(COMMENT)).status).toBe(200);
    slow.socket.destroy();
    await slow.closed;
    expect(fake.requests.map(({ path }) => path)).toEqual([COMMENT]);
  });
  it('that are streamed to undocumented paths lose their slot if they stall', async () => {
    const upstream = { concurrency: 1, queue: 0, bodyTimeoutMs: 20, clientTimeoutMs: 40 };
    const narrow = await startTestGateway({ upstream: fake, config: { upstream, undocumented: { allow: ALLOW } } });
    const slow = await connectRaw(portOf(narrow));
    slow.send(
      'POST /services/v2/any.json HTTP/1.1',
      'Host: x',
      `Authorization: ${basic('admin')}`,
      'Content-Length: 100',
      '',
      'x',
    );
    expect(await slow.until(/\r\n\r\n/)).toMatch(/^HTTP\/1\.1 [45]\d\d /);
    expect((await narrow.call(COMMENT)).status).toBe(200);
    slow.socket.destroy();
  });
});

describe('guessing', () => {
  it('the password of one name is limited to ten failures a minute, with Retry-After', async () => {
    const clock = createTestClock();
    const gateway = await startTestGateway({ upstream: fake, clock });
    for (let guess = 0; guess < 10; guess += 1)
      expectError(
        await gateway.call(COMMENT, { user: 'alice', password: `guess-${guess}` }),
        401,
        'credentials_refused',
      );
    const limited = await gateway.call(COMMENT, { user: 'alice', password: 'guess-10' });
    expectError(limited, 429, 'too_many_attempts');
    expect(Number(limited.headers['retry-after'])).toBeGreaterThan(0);
    clock.advance(Number(limited.headers['retry-after']));
    expectError(await gateway.call(COMMENT, { user: 'alice', password: 'guess-11' }), 401, 'credentials_refused');
    expect(fake.requests).toEqual([]);
  });
  it('is limited when all guesses arrive at once', async () => {
    const gateway = await startTestGateway({ upstream: fake });
    const guesses = Array.from({ length: 40 }, (_, at) =>
      gateway.call(COMMENT, { user: 'bob', password: `guess-${at}` }),
    );
    const statuses = (await Promise.all(guesses)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(10);
    expect(statuses.every((status) => status === 401 || status === 429)).toBe(true);
  });
  it('cannot evade the limit with a forged address', async () => {
    const gateway = await startTestGateway({ upstream: fake });
    const statuses: number[] = [];
    for (let guess = 0; guess < 12; guess += 1) {
      const headers = { 'X-Forwarded-For': `10.0.0.${guess}`, Forwarded: `for=10.0.0.${guess}` };
      statuses.push((await gateway.call(COMMENT, { user: 'alice', password: `guess-${guess}`, headers })).status);
    }
    expect(statuses.slice(10)).toEqual([429, 429]);
  });
  it('never locks out verified callers or other names', async () => {
    const gateway = await startTestGateway({ upstream: fake });
    await gateway.call(COMMENT, { user: 'alice' });
    for (let guess = 0; guess < 15; guess += 1)
      await gateway.call(COMMENT, { user: 'alice', password: `guess-${guess}` });
    expect((await gateway.call(COMMENT, { user: 'alice' })).status).toBe(200);
    expect((await gateway.call(COMMENT, { user: 'bob' })).status).toBe(200);
  });
  it('sends the upstream no more probes than the limit if the upstream verifies', async () => {
    const upstream = await startFakeUpstream(knowing());
    const gateway = await startTestGateway({ upstream, real: true, config: { mode: 'strict' } });
    for (let guess = 0; guess < 15; guess += 1)
      await gateway.call(COMMENT, { user: 'zoe', password: `guess-${guess}` });
    expect(upstream.requests.filter(({ path, user }) => path === PROBE && user === 'zoe')).toHaveLength(10);
    expect(upstream.requests.filter(({ path }) => path === COMMENT)).toEqual([]);
  });
  it('many names at once fills a bounded queue, and further attempts are refused', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const known = knowing();
    const upstream = await startFakeUpstream(async (request, response) => {
      if (request.user?.startsWith('name-')) await promise;
      return known(request, response);
    });
    const config = { mode: 'strict', authentication: { probe: { concurrency: 1, queue: 2 } } };
    const gateway = await startTestGateway({ upstream, real: true, config });
    const statuses: number[] = [];
    const guesses = Array.from({ length: 30 }, async (_, at) => {
      statuses.push((await gateway.call(COMMENT, { user: `name-${at}`, password: 'guess' })).status);
    });
    await until(() => statuses.length === 27);
    expect(new Set(statuses)).toEqual(new Set([503]));
    resolve();
    await Promise.all(guesses);
    expect(statuses.slice(27)).toEqual([401, 401, 401]);
    expect(upstream.requests.filter(({ path }) => path === COMMENT)).toEqual([]);
  });
  // The attack: one address continuously sends credentials with made-up names. Without fair queues, they would
  // fill the hashing queue and the probe slots, and callers logging in for the first time from other addresses would be
  // refused with a 429 or 503.
  const from = (address: string) => ({ headers: { 'X-Forwarded-For': address } });
  const FLOOD = from('198.51.100.1');
  const NEWCOMER = from('203.0.113.9');

  it('under made-up names from one address locks out no caller from elsewhere if passwords are hashed', async () => {
    const config = {
      listen: { trustedProxies: ['loopback'] },
      authentication: { hashing: { concurrency: 1, queue: 4 } },
    };
    // The hashes have the default cost, so that the queue stays full for a while.
    const roles = readFileSync(new URL('../../config/roles.yaml', import.meta.url), 'utf8');
    const gateway = await startTestGateway({ upstream: fake, config, roles });
    const flood = Array.from({ length: 60 }, (_, index) =>
      gateway.call(COMMENT, { user: `name${index}`, password: 'x', ...FLOOD }),
    );
    const newcomers = await Promise.all(
      ['alice', 'bob'].map((user, index) => gateway.call(COMMENT, { user, ...from(`203.0.113.${index}`) })),
    );
    expect(newcomers.map(({ status }) => status)).toEqual([200, 200]);
    const statuses = new Set((await Promise.all(flood)).map(({ status }) => status));
    expect([...statuses].toSorted((a, b) => a - b)).toEqual([401, 429]);
  });

  it('under made-up names from one address leaves probes to others if the upstream verifies', async () => {
    const held = Promise.withResolvers<undefined>();
    const respond = knowing();
    fake.handler = async (request, response) => {
      if (request.path === PROBE && request.user?.startsWith('name')) await held.promise;
      return respond(request, response);
    };
    const config = {
      mode: 'strict',
      listen: { trustedProxies: ['loopback'] },
      authentication: { probe: { concurrency: 4, queue: 8, timeoutMs: 120_000 } },
    };
    const gateway = await startTestGateway({ upstream: fake, real: true, config });
    let turnedAway = 0;
    const flood = Array.from({ length: 40 }, async (_, index) => {
      await gateway.call(COMMENT, { user: `name${index}`, password: 'x', ...FLOOD });
      turnedAway += 1;
    });
    // After this many refusals, the queue is full, and the address has taken all the positions that it may use.
    await until(() => turnedAway >= 28);
    expect((await gateway.call(COMMENT, { user: 'alice', ...NEWCOMER })).status).toBe(200);
    // No delayed probe has finished or timed out yet.
    expect(turnedAway).toBeLessThanOrEqual(29);
    held.resolve(undefined);
    await Promise.all(flood);
    const probes = fake.requests.filter(({ path, user }) => path === PROBE && user?.startsWith('name'));
    expect(probes.length).toBeLessThanOrEqual(12);
  });

  it('does not reveal whether a name exists', async () => {
    const gateway = await startTestGateway({ upstream: fake });
    const [known, unknown] = [
      await gateway.call(COMMENT, { user: 'alice', password: 'x' }),
      await gateway.call(COMMENT, { user: 'who', password: 'x' }),
    ];
    const facts = ({ status, json, headers }: typeof known) => [
      status,
      json.error,
      json.code,
      json.details,
      headers['www-authenticate'],
    ];
    expect(facts(known)).toEqual(facts(unknown));
  });
});
