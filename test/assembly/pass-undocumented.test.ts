import type { Request, Response } from 'express';
import { describe, expect, it } from 'vitest';
import { createPass } from '../../src/assembly/pass-undocumented.ts';
import { UpstreamFailure } from '../../src/model/upstream-failure.ts';
import type { Trace } from '../../src/model/trace.ts';
import type { HeaderPairs } from '../../src/model/header-pairs.ts';
import type { Passthrough } from '../../src/upstream/create-passthrough.ts';
import { arrivalWith, callerNamed, failureOf, traceWith } from '../builders/exchange.ts';
import { createTestClock } from '../builders/test-clock.ts';

interface Passing {
  readonly method?: string;
  readonly path?: string;
  /** What the upstream answers; an error for a transport that fails. */
  readonly answer?: number | Error;
  /** How the transport failed after the head of the answer. */
  readonly failure?: UpstreamFailure;
  readonly transparent?: boolean;
  readonly trace?: Trace;
}

const extra = (answered: HeaderPairs) => [['Seen', String(answered[0]?.[0])]] as const;

async function passed(given: Passing = {}) {
  const { method = 'GET', path = '/services/v2/question/17/answer.json', answer = 200, transparent = false } = given;
  const clock = createTestClock();
  const order: unknown[] = [];
  const contexts: Parameters<Passthrough['pass']>[2][] = [];
  const passthrough: Passthrough = {
    pass: (_request, _response, context) => {
      contexts.push(context);
      clock.advance(0.5);
      if (typeof answer !== 'number') return Promise.reject(answer);
      const added = context.onAnswer?.(answer, [['X-Request-Id', 'theirs']]);
      order.push(added);
      context.onLegacyAddress?.();
      const { failure } = given;
      return Promise.resolve({ status: answer, bytes: 9, ...(failure && { failure }) });
    },
    openConnections: () => 0,
    close: () => undefined,
  };
  const pass = createPass({
    passthrough,
    transparent,
    publicBasePath: '/qa',
    purge: (tags) => order.push(tags ?? 'everything'),
    clock,
  });
  const trace = given.trace ?? traceWith();
  const arrival = arrivalWith({ method, path, host: 'qa.example', protocol: 'https' });
  const request = { req: {} as Request, res: {} as Response, arrival, principal: callerNamed('alice'), trace, extra };
  const error = await pass(request).catch((failure: unknown) => failure);
  return { trace, order, context: contexts[0], error };
}

const NODE = ['node:17', 'questions'];
const ADDED = [['Seen', 'X-Request-Id']];

describe('a request past the contract', () => {
  it('carries the credential of its caller and the address that the client calls', async () => {
    const { context } = await passed();
    expect(context).toMatchObject({
      authorization: 'Basic alice',
      transparent: false,
      publicAddress: 'https://qa.example/qa',
    });
  });

  it('notes the answer of the upstream, the bytes that went, and a legacy address in them', async () => {
    const { trace, order } = await passed();
    expect(trace).toMatchObject({
      upstream: { status: 200, shape: 'passed', seconds: 0.5, attempts: 1 },
      bytes: 9,
      legacyAddress: true,
    });
    expect(order).toEqual([ADDED]);
  });

  it('notes how the transport failed', async () => {
    const failure = new UpstreamFailure('reset');
    const { trace, error } = await passed({ answer: failure });
    expect(error).toBe(failure);
    expect(trace.upstream).toEqual({ status: undefined, shape: 'reset', seconds: 0.5, attempts: 1 });
  });

  it('notes nothing of the upstream for a failure of our own', async () => {
    const { trace, order } = await passed({ method: 'POST', answer: new Error('unexpected') });
    expect([trace.upstream, order]).toEqual([undefined, []]);
  });
});

describe('a write past the contract', () => {
  it.each([200, 302, 500])('purges before its client hears of status %i', async (answer) => {
    expect((await passed({ method: 'POST', answer })).order).toEqual([NODE, ADDED]);
  });

  it('purges everything where nobody knows what it changes', async () => {
    const { order } = await passed({ method: 'DELETE', path: '/services/v2/jobs.json' });
    expect(order[0]).toBe('everything');
  });

  it('purges when its answer was lost', async () => {
    expect((await passed({ method: 'PUT', answer: new UpstreamFailure('aborted') })).order).toEqual([NODE]);
  });

  it.each([400, 403, 499])('purges nothing when it was refused with %i', async (answer) => {
    expect((await passed({ method: 'POST', answer })).order).toEqual([ADDED]);
  });

  it.each(['GET', 'HEAD', 'OPTIONS', 'TRACE'])('is none with %s', async (method) => {
    expect((await passed({ method })).order).toEqual([ADDED]);
    expect((await passed({ method, answer: new UpstreamFailure('reset') })).order).toEqual([]);
  });
});

const pending = () =>
  traceWith({
    authentication: { level: 'report', outcome: 'skipped', principal: 'unverified', reason: 'verification_pending' },
  });

describe('the credential of an observed request past the contract', () => {
  it('is judged by the answer', async () => {
    const refused = await passed({ transparent: true, trace: pending(), answer: 401 });
    expect(refused.trace.authentication).toMatchObject({ outcome: 'reported', reason: 'judged by the answer' });
    const lost = await passed({ transparent: true, trace: pending(), answer: new UpstreamFailure('reset') });
    expect(lost.trace.authentication).toMatchObject({ outcome: 'skipped', reason: 'no answer' });
  });

  it('is left to the verifier elsewhere', async () => {
    const { trace } = await passed({ trace: pending(), answer: 401 });
    expect(trace.authentication?.reason).toBe('verification_pending');
  });
});

describe('an upstream that fails past the contract', () => {
  it.each([
    [500, ['server-error']],
    [499, []],
    [new UpstreamFailure('refused'), ['refused']],
    [new UpstreamFailure('aborted'), []],
  ])('is told of: %s', async (answer, told) => {
    const { trace } = await passed({ answer });
    expect(trace.violations.map(({ keyword }) => keyword)).toEqual(told);
  });

  it('is told of when it breaks off in mid-answer', async () => {
    const { trace } = await passed({ failure: new UpstreamFailure('truncated') });
    expect(trace.violations).toMatchObject([{ check: 'upstream', keyword: 'truncated' }]);
  });
});

it('a failure is passed on as it is', async () => {
  const failure = new Error('unexpected');
  expect(await failureOf(Promise.reject((await passed({ answer: failure })).error as Error))).toBe(failure);
});
