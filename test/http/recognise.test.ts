import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { createRecogniser } from '../../src/http/recognise.ts';
import type { AuthenticationResult, Authenticator } from '../../src/identity/authenticator.ts';
import { MODES } from '../../src/model/checks.ts';
import { createKnownTargets } from '../../src/pipeline/known-targets.ts';
import type { Plan } from '../../src/pipeline/plan.ts';
import { callerNamed, createNext, type PlannedParts, plannedWith } from '../builders/exchange.ts';
import { toAskedPage } from '../../src/paging/asked-page.ts';

const RAW = '/qa/services/v2/thing.json?page=1&q=x';
const TARGET = '/services/v2/thing.json?q=x';
const VERIFIED: AuthenticationResult = {
  kind: 'principal',
  principal: callerNamed('alice'),
  trace: { level: 'enforce', outcome: 'passed', principal: 'verified' },
};

function recogniser(parts: PlannedParts = {}, recalled: AuthenticationResult | 'unknown' = VERIFIED) {
  const asked: Parameters<Authenticator['recall']>[0][] = [];
  const knownTargets = createKnownTargets(10_000);
  const plan: Plan = { ...plannedWith(parts), stages: [], handle: createNext().handle };
  const known = {
    plan,
    target: TARGET,
    asked: toAskedPage({ page: 1, pageSize: undefined, query: new Map() }, TARGET),
    requests: { level: 'enforce', outcome: 'passed' },
  } as const;
  knownTargets.remember(RAW, known);
  const authenticator: Authenticator = {
    recall: (input) => {
      asked.push(input);
      return recalled === 'unknown' ? undefined : recalled;
    },
    authenticate: () => Promise.reject(new Error('asked')),
    forget: () => undefined,
    calibrate: () => Promise.reject(new Error('asked')),
  };
  const recognise = createRecogniser({
    house: { authenticator, checks: MODES.strict.checks },
    knownTargets,
    clock: () => 5_000,
  });
  const of = (rawHeaders: readonly string[] = ['Host', 'a'], more: Partial<IncomingMessage> = {}) =>
    recognise({ method: 'GET', url: RAW, rawHeaders, ...more } as IncomingMessage);
  return { of, known, asked };
}

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

describe('a request that is recognised', () => {
  it('comes with what its target asks for, who asks, and under which names', () => {
    const { of, known, asked } = recogniser();
    const fields = ['Host', 'a', 'Authorization', 'Basic x', 'X-Request-Id', 'mine', 'traceparent', TRACE];
    const found = of([...fields, 'tracestate', 'a=b', 'If-None-Match', '"t"', 'Accept-Encoding', 'gzip']);
    expect(found?.known).toBe(known);
    expect(found).toMatchObject({
      principal: VERIFIED.principal,
      authentication: VERIFIED.trace,
      identity: { requestId: 'mine', tracestate: 'a=b', receivedAt: 5_000 },
      fields: { authorization: 'Basic x', ifNoneMatch: '"t"', acceptEncoding: 'gzip' },
    });
    expect(found?.identity.traceparent).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01$/);
    expect(found?.identity.traceparent).not.toBe(TRACE);
    expect(asked).toEqual([{ authorizationHeader: 'Basic x', level: 'enforce', needsCredential: false, now: 5_000 }]);
  });

  it('gets names of its own where it has none, or harmful ones', () => {
    const { of } = recogniser();
    for (const fields of [[], ['X-Request-Id', 'a b', 'traceparent', 'odd', 'tracestate', 'a=b']]) {
      const { requestId, traceparent, tracestate } = of(fields)?.identity ?? {};
      expect(requestId).toMatch(/^[0-9a-f-]{36}$/);
      expect(traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
      expect(tracestate).toBeUndefined();
    }
  });

  it('is asked about at the level of its own operation', () => {
    const { of, asked } = recogniser({ checks: { authentication: 'report' }, operation: { needsCredential: true } });
    of();
    expect(asked).toMatchObject([{ level: 'report', needsCredential: true, authorizationHeader: undefined }]);
  });
});

describe('a request goes the long way', () => {
  it.each([
    ['with another method', { method: 'HEAD' }],
    ['with a method in small letters', { method: 'get' }],
    ['without a target', { url: undefined }],
    ['with another target', { url: `${RAW}&` }],
    ['with the target in another case', { url: RAW.toUpperCase() }],
    ['with what would be sent upstream', { url: TARGET }],
  ])('%s', (_what, more) => {
    const { of, asked } = recogniser();
    expect(of(undefined, more as Partial<IncomingMessage>)).toBeUndefined();
    expect(asked).toEqual([]);
  });

  it.each([
    ['with a body', ['Host', 'a', 'Content-Length', '1']],
    ['with two credentials', ['Host', 'a', 'Authorization', 'Basic x', 'authorization', 'Basic x']],
  ])('%s, before anybody is asked who it is', (_what, fields) => {
    const { of, asked } = recogniser();
    expect(of(fields)).toBeUndefined();
    expect(asked).toEqual([]);
  });

  it('of a caller who is not known without a question', () => {
    expect(recogniser().of()).toBeDefined();
    expect(recogniser({}, 'unknown').of()).toBeUndefined();
  });
});
