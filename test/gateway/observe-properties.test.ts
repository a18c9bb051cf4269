import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { anyQuery } from '../builders/any-text.ts';
import { callAt, type Call } from '../builders/call.ts';
import { type FakeResponse, type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { EXAMPLE_IDS, OPERATIONS } from '../builders/operations.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';

/*
 * The attack: arbitrary requests and arbitrary responses. In `observe` mode, a gateway failure without an upstream
 * failure is an outage. The client must therefore receive the upstream's status and bytes, no matter what a check
 * finds, even if the check throws an error.
 */

let fake: FakeUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  fake = await startFakeUpstream(() => ({ json: {} }));
  gateway = await startTestGateway({
    upstream: fake,
    real: true,
    config: { learn: { traffic: true }, upstream: { maxResponseBytes: 300_000 } },
  });
});

const odd = fc.constantFrom(
  'null',
  '',
  '{',
  '[]',
  '{}',
  '[[],[{}]]',
  '"text"',
  '-0',
  '1e999',
  '\uFEFF{"list":[]}',
  '{"list":{}}',
  '{"list":[null,1,"x",[],{}],"pageCount":"1","totalCount":-1}',
  '{"list":[{"id":9223372036854775808,"type":[],"author":"x","body":{"a":{"a":1}},"creationDate":1e300}]}',
  '{"__proto__":{"list":1},"constructor":1,"toString":{},"hasOwnProperty":[]}',
  '{"error":{"error":[]},"errors":[{"message":1}]}',
  '{"errors":{"message":"<br>"}}',
  '<html><body>no</body></html>',
  '<!---->'.repeat(200),
);
const hostile = fc.constantFrom(
  '['.repeat(100_000),
  '['.repeat(5000) + ']'.repeat(5000),
  '{"a":'.repeat(30_000),
  '{"list":[{"comments":'.repeat(3000),
  JSON.stringify({ list: Array.from({ length: 40_000 }, () => 1) }),
  JSON.stringify({ list: Array.from({ length: 9000 }, () => ({})), pageCount: 1 }),
  JSON.stringify(Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`prefix${at}`, at]))),
  JSON.stringify({ list: [Object.fromEntries(Array.from({ length: 15_000 }, (_, at) => [`sk_${at}@x`, at]))] }),
  `{"list":[${'9'.repeat(200_000)}]}`,
  JSON.stringify({ list: [{ id: 1, body: '\\"\u0000é'.repeat(20_000) }] }),
  `{"${'k'.repeat(250_000)}":1}`,
  ' '.repeat(290_000),
  'x'.repeat(310_000),
);
const body = fc.oneof(
  { weight: 2, arbitrary: odd },
  { weight: 2, arbitrary: hostile },
  { weight: 2, arbitrary: fc.json({ maxDepth: 5 }) },
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
);
const type = fc.constantFrom(
  'application/json',
  'application/json;charset=UTF-8',
  'text/html',
  'text/plain',
  'APPLICATION/JSON; charset=utf-7',
  ';;;',
  undefined,
);
const status = fc.constantFrom(
  200,
  200,
  200,
  201,
  202,
  206,
  299,
  301,
  400,
  401,
  403,
  404,
  409,
  418,
  429,
  500,
  502,
  503,
  599,
);
const query = fc.oneof(
  fc.constantFrom(
    '',
    `?includeOnly=${Array.from({ length: 2500 }, () => 'a').join('.')}`,
    `?includeOnly=${Array.from({ length: 2500 }, (_, at) => (at % 2 === 0 ? 'id' : 'author.id')).join(',')}`.slice(
      0,
      7000,
    ),
    `?exclude=${'.'.repeat(4000)}&include=${','.repeat(3000)}`,
    '?page=0&pageSize=-1&page=x',
    '?page=%ff&%=%&&&=',
    '?details=true&wrap=1&v1',
    '?includeOnly=list.id,__proto__.x,constructor',
  ),
  // NUL and unencoded characters are left out, because they are refused in every mode.
  anyQuery.map((text) => `?${text}`.replaceAll(/%00|[^\w?%=&.,~-]/g, '').slice(0, 2000)),
);
const call = fc.record({
  operation: fc.constantFrom(...OPERATIONS),
  query,
  sent: body,
  sentType: fc.constantFrom('application/json', 'text/plain', undefined),
});

/** Returns the parts of the client's response that must match the upstream's response. */
const seen = ({ status: code, bytes }: { readonly status: number; readonly bytes: Buffer }) => ({
  status: code,
  bytes: bytes.toString('latin1'),
});

describe('observe', () => {
  it("returns the upstream's status and bytes for every request and response", async () => {
    await fc.assert(
      fc.asyncProperty(
        call,
        status,
        type,
        body,
        async ({ operation, query: asked, sent, sentType }, code, kind, text) => {
          const response: FakeResponse = {
            status: code,
            headers: kind === undefined ? {} : { 'Content-Type': kind },
            body: text,
          };
          fake.handler = () => response;
          const target = operation.target(EXAMPLE_IDS) + asked;
          const request: Call = {
            method: operation.method,
            ...(operation.method === 'GET' ? {} : { body: sent }),
            headers: sentType === undefined ? {} : { 'Content-Type': sentType },
          };
          const [direct, through] = [await callAt(fake.url, target, request), await gateway.call(target, request)];
          expect(seen(through)).toEqual(seen(direct));
          const [atUpstream, forwarded] = fake.requests.splice(0);
          expect(forwarded?.target).toBe(atUpstream?.target);
          expect(forwarded?.body.equals(atUpstream?.body ?? Buffer.alloc(0))).toBe(true);
        },
      ),
      { numRuns: 150, seed: 4, endOnFailure: true },
    );
  });

  it('throws internally on none of them', () => {
    // An error is a defect even if the gateway recovers from it, so none of these inputs may cause an error.
    expect(gateway.log.filter((line) => line.includes('"cause"') || line.includes('"failed"'))).toEqual([]);
  });

  it('returns a page to a client that requests a projection of 2,500 segments', async () => {
    fake.handler = () => ({ json: { list: [{ id: 1 }], pageCount: 1 } });
    const path = Array.from({ length: 2500 }, () => 'a').join('.');
    const got = await gateway.call(`/services/v2/question.json?includeOnly=${path}`);
    expect([got.status, got.text]).toEqual([200, '{"list":[{"id":1}],"pageCount":1}']);
  });
});
