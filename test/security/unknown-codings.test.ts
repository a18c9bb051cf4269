import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { exampleOf } from '../builders/contract-examples.ts';
import { type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';

/*
 * The attack: the upstream, or someone who can write its responses, encodes a body in a way that Portico cannot decode.
 * If the bytes were forwarded without their `Content-Encoding`, the client would misread them. If they were stored,
 * every caller would misread them. Therefore, these bytes are always forwarded with their coding and never stored in
 * the cache, even when they look valid. For example, plain JSON labeled as `compress` would pass every check of the
 * body, but the client's decoder would turn it into different text.
 */

const LIST = '/services/v2/question.json';
const COMMENT = '/services/v2/comment/271.json';
const PASSED = '/services/v2/any.json';
const pageOf = (target: string) => JSON.stringify(exampleOf(target === COMMENT ? 'getComment' : 'listQuestions'));

const CODED: Readonly<Record<string, (text: string) => Buffer>> = {
  compress: (text) => Buffer.from(text),
  'aws-chunked, gzip': (text) => gzipSync(text),
  'gzip, gzip, gzip': (text) => gzipSync(gzipSync(gzipSync(text))),
};
const CODINGS = Object.keys(CODED);

let fake: FakeUpstream;
const gateways = new Map<string, TestGateway>();
beforeAll(async () => {
  fake = await startFakeUpstream(() => ({ status: 404 }));
  const undocumented = { allow: [{ method: '*', path: '/services/v2/**' }] };
  const start = async (name: string, config: Record<string, unknown>) =>
    gateways.set(name, await startTestGateway({ upstream: fake, config: { undocumented, ...config } }));
  await start('strict', { mode: 'strict' });
  await start('strict, store what is well-formed', { mode: 'strict', cache: { store: 'wellFormed' } });
  await start('strict, responses off', { mode: 'strict', checks: { responses: 'off' } });
  await start('staging', { mode: 'staging' });
  await start('observe', { mode: 'observe' });
});
const NAMES = ['strict', 'strict, store what is well-formed', 'strict, responses off', 'staging', 'observe'];

describe.each(NAMES)('in %s', (name) => {
  it.each(CODINGS)('a body in %s keeps its coding and bytes, and the next call goes upstream again', async (coding) => {
    const gateway = gateways.get(name) as TestGateway;
    for (const target of [LIST, COMMENT, PASSED]) {
      const body = CODED[coding]?.(pageOf(target));
      const headers = { 'Content-Type': 'application/json', 'Content-Encoding': coding };
      fake.handler = () => ({ headers, ...(body && { body }) });
      fake.requests.length = 0;
      for (let call = 1; call <= 2; call += 1) {
        const before = fake.requests.length;
        const response = await gateway.call(target);
        // If a body may contain private comment members that must be removed, but Portico cannot read the body, it
        // refuses the response.
        if (target === COMMENT && response.status === 502)
          expect(response.headers).not.toHaveProperty('content-encoding');
        else
          expect([response.status, response.headers['content-encoding'], response.bytes]).toEqual([200, coding, body]);
        // The first request for an operation is repeated, without asking for a coding.
        const sent = fake.requests.slice(before);
        expect(sent.length).toBeGreaterThanOrEqual(1);
        const asksForNone = sent.slice(1).map((request) => request.headers['accept-encoding'] === 'identity');
        expect([target, asksForNone]).toEqual([target, call === 1 && sent.length === 2 ? [true] : []]);
      }
    }
  });
});

describe('a refusal', () => {
  it.each(CODINGS)('does not name the upstream’s content coding: %s', async (coding) => {
    const headers = { 'Content-Type': 'application/json', 'Content-Encoding': coding };
    fake.handler = () => ({ status: 500, headers, body: gzipSync('{"error":"x"}') });
    const response = await (gateways.get('strict') as TestGateway).call(LIST);
    expect(response.headers).not.toHaveProperty('content-encoding');
    expect(response.json?.code).toBe('upstream_error');
  });
});
