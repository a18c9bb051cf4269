import { createSessions } from '../../../../src/engine/upstream/sessions.ts';
import { describe, expect, it } from 'vitest';
import { PROFILE } from '../../../../src/profile/profile.ts';
import { countedAs } from '../../../../src/engine/model/principal.ts';
import type { CheckLevel } from '../../../../src/engine/model/checks.ts';
import { MODES } from '../../../../src/engine/model/modes.ts';
import type { HeaderPairs } from '../../../../src/engine/model/header-pairs.ts';
import type { StreamedBody } from '../../../../src/engine/model/streamed-body.ts';
import { UpstreamFailure } from '../../../../src/engine/model/upstream-failure.ts';
import {
  compileUndocumentedPlan,
  undocumentedPlanLine,
  type UndocumentedPlanParts,
} from '../../../../src/engine/pipeline/undocumented/plan.ts';
import type { AllowEntry } from '../../../../src/engine/pipeline/undocumented/policy.ts';
import { compileLegacyAddresses } from '../../../../src/engine/upstream/legacy-addresses.ts';
import { arrivalWith, callerNamed, failureOf, grantsWith, traceWith } from '../../../builders/exchange.ts';
import { fakeExchanges } from '../../../builders/fake-exchanges.ts';
import { createTestClock } from '../../../builders/test-clock.ts';
import { bodyOf, drain, openBody } from '../../../builders/streamed-body.ts';

const ANY: AllowEntry = { method: '*', path: '/services/v2/**' };

function planWith(parts: Partial<UndocumentedPlanParts> = {}) {
  return compileUndocumentedPlan({
    purgedBy: PROFILE.purgedBy,
    checks: MODES.strict.checks,
    transparent: false,
    allow: [ANY],
    rewriteUrls: false,
    legacy: compileLegacyAddresses({ origin: 'http://old.example', basePath: '' }, []),
    publicAddress: ({ protocol, host }) => `${protocol}://${host}/qa`,
    access: {
      decidePermission: () => ({ verdict: 'allowed', because: 'all' }),
      grantsOf: () => grantsWith(),
      challenge: 'Basic',
      serviceCredential: false,
    },
    upstream: fakeExchanges(() => Promise.reject(new Error('nobody calls'))).upstream,
    clock: () => 1_000,
    sessions: createSessions([], () => 1_000),
    purge: () => undefined,
    ...parts,
  });
}

describe('the plan for undocumented paths', () => {
  const lineOf = (parts: Partial<UndocumentedPlanParts>) => undocumentedPlanLine(planWith(parts));
  const checks = (undocumented: CheckLevel, permissions: CheckLevel = 'enforce') => ({ undocumented, permissions });
  const needing: AllowEntry = { method: 'GET', path: '/services/v2/x.json', permission: 'Answer' };
  const service = {
    decidePermission: () => ({ verdict: 'allowed', because: 'all' }) as const,
    grantsOf: () => grantsWith(),
    challenge: 'Basic',
    serviceCredential: true,
  };

  it.each([
    ['nothing passes', { allow: [] }, 'refused'],
    ['only safe methods pass', { allow: [], checks: checks('report') }, 'rewrite-addresses → forward'],
    ['an entry allows a write', {}, 'purge-tags → rewrite-addresses → forward'],
    ['an entry requires a permission', { allow: [needing] }, 'authorize → rewrite-addresses → forward'],
    ['permissions are off', { allow: [needing], checks: checks('enforce', 'off') }, 'rewrite-addresses → forward'],
    [
      'a service account would replace callers',
      { allow: [], checks: checks('report'), access: service },
      'authorize → rewrite-addresses → forward',
    ],
    [
      'everything is forwarded unchanged, so that the permission is only reported',
      { transparent: true, allow: [needing], checks: checks('report', 'report') },
      'authorize → purge-tags → find-addresses → forward',
    ],
  ])('contains only the stages that have work if %s', (_case, parts, stages) => {
    expect(lineOf(parts)).toBe(`*    undocumented paths   ${stages}`);
  });
});

interface Passing {
  readonly method?: string;
  readonly path?: string;
  /** The upstream's response, or an error for a transport failure. */
  readonly result?: number | Error;
  readonly headers?: HeaderPairs;
  readonly body?: StreamedBody;
  readonly transparent?: boolean;
}

async function passed(given: Passing = {}) {
  const { method = 'GET', path = '/services/v2/question/17/answer.json', result = 200, transparent = false } = given;
  const clock = createTestClock();
  const order: unknown[] = [];
  const observed: unknown[] = [];
  const body = given.body ?? bodyOf('"http://old.example/x"');
  const { upstream, sent } = fakeExchanges(() => {
    clock.advance(0.5);
    if (typeof result !== 'number') throw result;
    return { status: result, reason: 'Own', headers: given.headers ?? [], body, attempts: 1 };
  });
  const plan = planWith({
    transparent,
    upstream,
    clock,
    purge: (tags) => order.push(tags ?? 'everything'),
    observeResponse: (arrival, status) => void observed.push([arrival.method, arrival.path, status]),
  });
  const trace = traceWith();
  const arrival = arrivalWith({ method, path, target: path, host: 'qa.example', protocol: 'https' });
  const exchange = { arrival, principal: callerNamed('alice'), trace, permission: undefined };
  const handled = Promise.resolve(plan.handle(exchange)).then((reply) => {
    order.push('replied');
    return reply;
  });
  const outcome = await handled.catch((error: unknown) => error as Error);
  return { trace, order, sent, observed, handled, reply: outcome instanceof Error ? undefined : outcome, body };
}

const NODE = ['node:17', 'questions'];

describe('an undocumented request', () => {
  it("carries its caller's credential and counts as a request of its caller", async () => {
    const { sent } = await passed();
    expect(sent[0]?.headers).toContainEqual(['Authorization', 'Basic alice']);
    expect(sent).toMatchObject([{ mode: 'streamed' }]);
    expect(sent[0]?.owner?.().caller).toBe(countedAs(callerNamed('alice')));
    expect(sent[0]?.upload).toBeUndefined();
  });

  it('gets the upstream’s response unchanged, which its trace records', async () => {
    const { trace, reply, observed } = await passed({ result: 203, headers: [['X-Own', '1']] });
    expect(reply).toMatchObject({ status: 203, reason: 'Own', headers: [['X-Own', '1']] });
    expect(trace).toMatchObject({
      route: 'passthrough',
      upstream: { status: 203, shape: 'passed', seconds: 0.5, attempts: 1 },
    });
    expect(observed).toEqual([['GET', '/services/v2/question/17/answer.json', 203]]);
  });

  it('records in its trace how the transport failed', async () => {
    const failure = new UpstreamFailure('reset');
    const { trace, handled } = await passed({ result: failure });
    expect(await failureOf(handled)).toBe(failure);
    expect(trace.upstream).toMatchObject({ status: undefined, shape: 'reset', seconds: 0.5, attempts: 1 });
  });

  it('records nothing about the upstream in its trace if Portico itself fails', async () => {
    const { trace, order } = await passed({ method: 'POST', result: new Error('unexpected') });
    expect([trace.upstream, order]).toEqual([undefined, []]);
  });
});

describe('an undocumented write', () => {
  it.each([200, 302, 500])('purges before its client gets status %i', async (result) => {
    expect((await passed({ method: 'POST', result })).order).toEqual([NODE, 'replied']);
  });

  it('purges everything if the affected resource is unknown', async () => {
    const { order } = await passed({ method: 'DELETE', path: '/services/v2/jobs.json' });
    expect(order[0]).toBe('everything');
  });

  it('purges if its response was lost', async () => {
    expect((await passed({ method: 'PUT', result: new UpstreamFailure('aborted') })).order).toEqual([NODE]);
  });

  it.each([400, 403, 499])('purges nothing if it was refused with %i', async (result) => {
    expect((await passed({ method: 'POST', result })).order).toEqual(['replied']);
  });

  it.each(['GET', 'HEAD', 'OPTIONS', 'TRACE'])('does not include %s', async (method) => {
    expect((await passed({ method })).order).toEqual(['replied']);
    expect((await passed({ method, result: new UpstreamFailure('reset') })).order).toEqual([]);
  });
});

describe('an upstream failure on an undocumented path', () => {
  it.each([
    [500, ['server-error']],
    [499, []],
    [new UpstreamFailure('refused'), ['refused']],
    [new UpstreamFailure('aborted'), []],
  ])('is reported: %s', async (result, keywords) => {
    const { trace } = await passed({ result });
    expect((trace.incidents ?? []).map(({ keyword }) => keyword)).toEqual(keywords);
  });

  it.each(['truncated', 'aborted'] as const)(
    'is reported in the middle of a response unless the client disconnected: %s',
    async (kind) => {
      const { body } = openBody();
      const { trace } = await passed({ body });
      body.destroy(new UpstreamFailure(kind));
      const isReported = kind === 'truncated';
      expect((trace.incidents ?? []).map(({ keyword }) => keyword)).toEqual(isReported ? ['truncated'] : []);
      expect(trace.upstream).toMatchObject(isReported ? { status: undefined, shape: 'truncated' } : { status: 200 });
    },
  );
});

const TEXT: HeaderPairs = [
  ['Content-Type', 'text/plain'],
  ['Location', 'http://old.example/y'],
];

describe('the addresses of the legacy server in a response', () => {
  const shown = async (given: Passing) => {
    const { reply, trace } = await passed({ headers: TEXT, ...given });
    if (reply === undefined) throw new Error('no reply');
    const { bytes } = await drain(reply.body);
    return { location: reply.headers.at(-1)?.[1], text: bytes.toString(), found: trace.legacyAddress };
  };

  it('become public ones in headers and are reported in bodies', async () => {
    const text = '"http://old.example/x"';
    expect(await shown({})).toEqual({ location: 'https://qa.example/qa/y', text, found: true });
  });

  it('remain if everything is forwarded unchanged, and are reported in bodies', async () => {
    const text = '"http://old.example/x"';
    expect(await shown({ transparent: true })).toEqual({ location: 'http://old.example/y', text, found: true });
  });

  it('are not searched for in an encoded body', async () => {
    const headers: HeaderPairs = [...TEXT, ['Content-Encoding', 'gzip']];
    expect((await shown({ headers })).found).toBeUndefined();
  });
});
