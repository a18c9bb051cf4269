import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { exampleOf } from '../builders/contract-examples.ts';
import { type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';

/*
 * The attack: a client writes a `Host` (or a forwarding field) of its own making. Where addresses in answers are rewritten
 * to the public one, that host stands in the page; where the page is kept, everybody who asks for it later is sent to the
 * attacker, with a password perhaps. So what is kept holds the upstream's own addresses, and each client reads its own.
 */

const QUESTIONS = '/services/v2/question.json';

let fake: FakeUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  fake = await startFakeUpstream(() => {
    const example = exampleOf('listQuestions');
    const [first] = example.list;
    return { json: { ...example, list: [{ ...first, body: `see ${fake.url}/services/v2/comment/1.json` }] } };
  });
  const operations = { listQuestions: { cache: { audience: 'public', assumeImpersonal: true } } };
  gateway = await startTestGateway({
    upstream: fake,
    config: { rewriteUrls: true, operations, cache: { sampleShared: 0 } },
  });
});
beforeEach(() => {
  gateway.gateway.services.cache.purgeAll();
  fake.requests.length = 0;
});
const ask = (host: string, user = 'alice', headers = {}) =>
  gateway.call(QUESTIONS, { user, headers: { Host: host, ...headers } });

describe('a kept page', () => {
  it('never shows one client the host that another one wrote', async () => {
    const poisoned = await ask('evil.example', 'bob');
    expect(poisoned.text).toContain('http://evil.example/services/v2/comment/1.json');
    const kept = await ask('public.example', 'alice');
    expect(kept.headers['cache-status']).toContain('hit');
    expect(kept.text).toContain('http://public.example/services/v2/comment/1.json');
    expect(kept.text).not.toContain('evil');
    expect(fake.requests).toHaveLength(1);
  });
  it('has an entity tag of its own for each host, so that none is answered with 304 for the page of another', async () => {
    const poisoned = await ask('evil.example', 'bob');
    const other = await ask('public.example', 'alice', { 'If-None-Match': poisoned.headers.etag });
    expect(other.status).toBe(200);
    expect(other.headers.etag).not.toBe(poisoned.headers.etag);
    expect((await ask('public.example', 'alice', { 'If-None-Match': other.headers.etag })).status).toBe(304);
  });
  it('that several callers wait for at one time is written for each of them', async () => {
    const hosts = ['a.example', 'evil.example', 'b.example'];
    const answers = await Promise.all(hosts.map((host) => ask(host)));
    answers.forEach(({ text }, index) => {
      expect(text).toContain(`http://${hosts[index]}/services/v2/comment/1.json`);
      for (const other of hosts) if (other !== hosts[index]) expect(text).not.toContain(other);
    });
  });
  it('is not another page because of a forwarding field', async () => {
    await ask('public.example');
    const forged = await ask('public.example', 'bob', {
      'X-Forwarded-Host': 'evil.example',
      Forwarded: 'host=evil.example',
    });
    expect(forged.headers['cache-status']).toContain('hit');
    expect(forged.text).not.toContain('evil');
  });
});

describe('a Host that is no host', () => {
  it.each(['evil.example/x?', 'a"b', 'a b', '<script>', 'evil.example\\', 'x","admin":"y'])(
    'is refused, before it is put into any text: %s',
    async (host) => {
      const answer = await ask(host);
      expect(answer.status).toBe(400);
      expect(answer.text).not.toContain(host);
      expect(fake.requests).toEqual([]);
    },
  );

  it('in its form, but is one by its signs, does not break out of the text that it is put into', async () => {
    const answer = await ask("x'onload=alert(1)");
    expect(answer.status).toBe(200);
    const { list } = JSON.parse(answer.text) as { list: Record<string, unknown>[] };
    expect(Object.keys(list[0] ?? {}).toSorted()).toEqual(Object.keys(exampleOf('listQuestions').list[0]).toSorted());
    expect(list[0]?.['body']).toBe("see http://x'onload=alert(1)/services/v2/comment/1.json");
  });
});
