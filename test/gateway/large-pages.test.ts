import { beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_JSON_LIMITS } from '../../src/lib/bounded-json.ts';
import { UPSTREAM_DEFAULTS } from '../../src/engine/upstream/upstream-options.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { expectError } from '../builders/expect-error.ts';
import { type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';
import { document } from '../engine/contract/sample.ts';

const COMMENTS = '/services/v2/node/118/comment.json';
const MEMBERS = '/services/v2/group/7/user.json?pageSize=100';
const QUESTIONS = '/services/v2/question.json?pageSize=100';

const times = <Made>(count: number, make: (at: number) => Made) => Array.from({ length: count }, (_, at) => make(at));
const exampleOf = (name: string) => structuredClone(document.components.examples[name]?.value) as never;

interface List {
  readonly list: readonly Record<string, unknown>[];
}

const firstOf = ({ list: [first = {}] }: List) => first;

/** Returns an envelope with copies of the example's first item, to which `more` is added. */
function pageOf(name: string, length: number, more: (at: number) => object) {
  const page = exampleOf(name) as List;
  const list = times(length, (at) => ({ ...page.list[0], id: at + 1, ...more(at) }));
  return { ...page, list, pageSize: length, listCount: length, totalCount: length };
}

const commentsOf = (count: number) => {
  const examples = exampleOf('nodeComments') as Record<string, unknown>[];
  return times(count, (at) => ({ ...examples[1], id: at + 1 }));
};
const usersOf = (groups: number) => {
  const page = exampleOf('groupUsers') as List;
  const [group] = firstOf(page)['groups'] as readonly object[];
  return pageOf('groupUsers', 100, () => ({ groups: times(groups, (at) => ({ ...group, id: String(at) })) }));
};
const questionsOf = (related: number) => {
  const page = exampleOf('questions') as List;
  const [topic] = firstOf(page)['topics'] as readonly object[];
  const ids = times(related, (at) => 1000 + at);
  return pageOf('questions', 100, () => ({
    topics: times(20, () => topic),
    childrenIds: ids,
    commentIds: ids,
    answers: ids,
    revisionIds: ids,
    answerCount: related,
  }));
};

/** The largest pages that documented operations can be expected to return, by target. */
const LARGEST = [
  [COMMENTS, 'the comments of a node with 5,000 comments', commentsOf(5000)],
  [MEMBERS, '100 users who belong to 400 groups each', usersOf(400)],
  [QUESTIONS, '100 questions with 400 answers and comments each', questionsOf(400)],
] as const;

let fake: FakeUpstream;
let gateway: TestGateway;
let enforcing: TestGateway;
let small: TestGateway;
beforeAll(async () => {
  fake = await startFakeUpstream(exampleResponse);
  const enforce = { checks: { responses: 'enforce' } };
  const limits = { maxJsonValues: 200, maxResponseBytes: 50_000 };
  gateway = await startTestGateway({ upstream: fake });
  enforcing = await startTestGateway({ upstream: fake, config: enforce });
  small = await startTestGateway({ upstream: fake, config: { ...enforce, upstream: limits } });
});

describe('the largest documented pages', () => {
  it.each(LARGEST)('%s: %s are within the default limits, valid and enforceable', async (target, _, json) => {
    expect(Buffer.byteLength(JSON.stringify(json))).toBeLessThan(UPSTREAM_DEFAULTS.maxResponseBytes);
    fake.handler = () => ({ json });
    for (const one of [gateway, enforcing]) {
      const got = await one.call(target, { user: 'admin' });
      expect([got.status, got.headers['contract-status']]).toEqual([200, 'conforming']);
    }
  });

  it('use most of the default limit on values', () => {
    let most = 0;
    const count = (value: unknown): number =>
      typeof value === 'object' && value !== null
        ? Object.values(value).reduce<number>((sum, one) => sum + count(one), 1)
        : 1;
    for (const [, , json] of LARGEST) most = Math.max(most, count(json));
    expect(most).toBeGreaterThan(DEFAULT_JSON_LIMITS.values / 2);
    expect(most).toBeLessThan(DEFAULT_JSON_LIMITS.values);
  });
});

describe('a page beyond a limit of the gateway', () => {
  const json = commentsOf(20);

  it('is redacted and forwarded to every caller if responses are reported', async () => {
    fake.handler = () => ({ json });
    const reporting = await startTestGateway({ upstream: fake, config: { upstream: { maxJsonValues: 200 } } });
    const [bob, alice] = [
      await reporting.call(COMMENTS, { user: 'bob' }),
      await reporting.call(COMMENTS, { user: 'alice' }),
    ];
    expect([bob.status, alice.status]).toEqual([200, 200]);
    expect([bob.text.includes('"visibility"'), alice.text.includes('"visibility"')]).toEqual([false, true]);
    expect(bob.json).toHaveLength(20);
    expect(bob.headers['contract-status']).toContain('worst=size');
  });

  it('is refused with the limit, its value and its key if responses are enforced, for every caller alike', async () => {
    fake.handler = () => ({ json });
    for (const user of ['bob', 'alice']) {
      const got = await small.call(COMMENTS, { user });
      expectError(got, 502, 'upstream_response_unchecked');
      expect(got.json).toMatchObject({
        error:
          'The upstream response has more than 200 values, which is the limit of upstream.maxJsonValues. Every 64 bytes of a number or white space count as a value.',
        details: [{ message: 'Raise the limit, or request fewer or smaller items.' }],
      });
    }
  });

  it('is refused with the limit, its value and its key if it is too large to read', async () => {
    fake.handler = () => ({ json: commentsOf(100) });
    const got = await small.call(COMMENTS, { user: 'bob' });
    expectError(got, 502, 'upstream_response_too_large');
    expect(got.json).toMatchObject({
      error: 'The upstream response is larger than 50000 bytes, which is the limit of upstream.maxResponseBytes.',
    });
  });
});
