import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../src/engine/errors/gateway-error.ts';
import type { AuthenticationResult } from '../../../src/engine/identity/create-authenticator.ts';
import type { Arrival } from '../../../src/engine/model/arrival.ts';
import { MODES } from '../../../src/engine/model/modes.ts';
import { ProbeFailure, UpstreamFailure } from '../../../src/engine/model/upstream-failure.ts';
import { ANONYMOUS } from '../../../src/engine/model/principal.ts';
import { dispatch, checkCredentialByResponse } from '../../../src/engine/pipeline/dispatch.ts';
import {
  arrivalWith,
  callerNamed,
  createNext,
  failureOf,
  grantsWith,
  operationWith,
  plannedWith,
  replyWith,
  traceWith,
} from '../../builders/exchange.ts';
import { gatewayWith, type FakeGatewayParts } from '../../builders/fake-gateway.ts';

const clientGone = () => AbortSignal.abort();

function dispatched(parts: FakeGatewayParts = {}, arrival: Partial<Arrival> = {}, gone?: () => AbortSignal) {
  const made = gatewayWith(parts);
  const trace = traceWith();
  // `dispatch` may return or throw synchronously. `outcome` always returns a promise.
  const outcome = (async () => dispatch(made.gateway, arrivalWith(arrival), trace, gone))();
  return { ...made, trace, outcome };
}

const elsewhere = { path: '/services/v2/other.json', target: '/services/v2/other.json' };
const passes: FakeGatewayParts = { verdict: { pass: true, permission: undefined, reported: true } };

describe('a documented request', () => {
  it('is handled by its plan, with its caller and their permissions', async () => {
    const { outcome, trace, plan, next } = dispatched(
      { grantsOf: () => grantsWith({ delegated: true }) },
      {},
      clientGone,
    );
    expect(await outcome).toMatchObject({ plan, reply: { status: 200 } });
    expect(trace).toMatchObject({ operation: 'listThings', caller: 'alice', requests: { outcome: 'passed' } });
    expect(next.asked[0]).toMatchObject({
      principal: { name: 'alice' },
      audience: 'caller:verified:user:alice',
      delegated: true,
      trace,
      clientGone,
    });
  });

  it('continues if its parameters cannot be decoded and all is forwarded unchanged, and records why', async () => {
    const mistake = new RangeError('Maximum call stack size exceeded');
    const contract = {
      ...gatewayWith().gateway.contract,
      decodeParameters: () => {
        throw mistake;
      },
    };
    const { outcome, trace } = dispatched({ contract, plan: { ...plannedWith({ transparent: true }) } });
    expect(await outcome).toMatchObject({ reply: { status: 200 } });
    expect(trace).toMatchObject({ requests: { outcome: 'failed' }, cause: mistake });
  });

  it('is handled for HEAD as for GET', async () => {
    expect(await dispatched({}, { method: 'HEAD' }).outcome).toMatchObject({ reply: { status: 200 } });
  });

  it('is not handled for a method that its path does not have', async () => {
    const { outcome, next } = dispatched({}, { method: 'DELETE' });
    await failureOf(outcome);
    expect(next.asked).toEqual([]);
  });
});

describe('the authentication of a request', () => {
  it('follows the level and requirements of its operation', async () => {
    const operation = operationWith({ needsCredential: true });
    const plan = { operation, checks: { ...MODES.strict.checks, authentication: 'report' as const } };
    const { outcome, authenticated } = dispatched({ plan }, { authorization: 'Basic x' });
    await outcome;
    expect(authenticated).toMatchObject([
      {
        level: 'report',
        needsCredential: true,
        authorizationHeader: 'Basic x',
        now: 1_000,
      },
    ]);
    expect(authenticated[0]?.clientAddress()).toBe('127.0.0.1');
  });

  it('follows the global level on undocumented paths', async () => {
    const checks = { ...MODES.strict.checks, authentication: 'off' as const };
    const { outcome, authenticated } = dispatched({ ...passes, checks }, elsewhere);
    await outcome;
    expect(authenticated).toMatchObject([{ level: 'off', needsCredential: false }]);
  });

  it('distinguishes callers by tokens and cookies only if those are sent upstream', async () => {
    const otherCredential = 't\na=b';
    const planned = dispatched({}, { otherCredential });
    const observed = dispatched({ plan: plannedWith({ transparent: true }) }, { otherCredential });
    const passed = dispatched(passes, { ...elsewhere, otherCredential });
    const plain = dispatched(passes, elsewhere);
    await Promise.all([planned, observed, passed, plain].map(({ outcome }) => outcome));
    expect(planned.authenticated[0]?.otherCredential).toBeUndefined();
    expect(observed.authenticated[0]?.otherCredential).toBe(otherCredential);
    expect(passed.authenticated[0]?.otherCredential).toBe(otherCredential);
    expect(plain.authenticated[0]?.otherCredential).toBeUndefined();
  });

  it('refuses before any other check, and records why', async () => {
    const error = new GatewayError('credentials_refused', 'no');
    const { outcome, trace, next } = dispatched({ authenticate: () => Promise.reject(error) });
    expect(await failureOf(outcome)).toBe(error);
    expect(trace.authentication).toEqual({
      level: 'enforce',
      outcome: 'refused',
      principal: 'none',
      reason: 'credentials_refused',
    });
    expect([next.asked, trace.requests]).toEqual([[], undefined]);
  });

  it.each([
    ['verification_unavailable', new UpstreamFailure('refused'), ['refused']],
    ['verification_unavailable', new ProbeFailure(500), ['server-error']],
    ['verification_unavailable', 'too many probes are waiting', []],
    ['credentials_refused', undefined, []],
  ] as const)('reports an upstream that prevented it: %s, %s', async (code, cause, keywords) => {
    const error = new GatewayError(code, 'no', { cause });
    const { outcome, trace } = dispatched({ authenticate: () => Promise.reject(error) });
    await failureOf(outcome);
    expect(trace.violations).toEqual([]);
    expect((trace.incidents ?? []).map(({ check, category, keyword }) => [check, category, keyword])).toEqual(
      keywords.map((keyword) => ['upstream', 'protocol', keyword]),
    );
  });

  it('records no name for a caller without one', async () => {
    const passed = { level: 'enforce', outcome: 'passed', principal: 'anonymous' } as const;
    const { outcome, trace } = dispatched({
      authenticate: () => Promise.resolve({ principal: ANONYMOUS, trace: passed }),
    });
    await outcome;
    expect(trace?.caller).toBeUndefined();
  });
});

const replying = (status: number | undefined, denied = false) => {
  const next = createNext(({ trace }) => {
    trace.upstream = { status, shape: '', denied, seconds: 0, attempts: 1 };
    return status === undefined ? Promise.reject(new GatewayError('upstream_reset', '')) : replyWith({}, { status });
  });
  return { ...plannedWith({ transparent: true }), handle: next.handle };
};

const pending = (): Promise<AuthenticationResult> =>
  Promise.resolve({
    principal: callerNamed('alice', { kind: 'unverified' }),
    trace: { level: 'report', outcome: 'skipped', principal: 'unverified', reason: 'verification_pending' },
  });

describe('the credential of a request in observe mode', () => {
  it.each([
    [200, false, 'skipped', 'decided by the response'],
    [401, false, 'reported', 'decided by the response'],
    [401, true, 'skipped', 'decided by the response'],
    [undefined, false, 'skipped', 'no response'],
  ] as const)('has a verdict for status %s (denied: %s): %s', async (status, denied, outcome, reason) => {
    const { trace, outcome: done } = dispatched({ plan: replying(status, denied), authenticate: pending });
    await done.catch(() => undefined);
    expect(trace.authentication).toMatchObject({ outcome, reason, principal: 'unverified' });
  });

  it('has no verdict if it was verified, or outside observe mode', async () => {
    const verified = dispatched({ plan: replying(401) });
    await verified.outcome;
    expect(verified.trace.authentication).toMatchObject({ outcome: 'passed' });
    const staged = dispatched({ authenticate: pending });
    await staged.outcome;
    expect(staged.trace.authentication?.reason).toBe('verification_pending');
  });

  it('has no verdict without authentication', () => {
    const trace = traceWith();
    checkCredentialByResponse(trace);
    expect(trace.authentication).toBeUndefined();
  });
});

const anonymous = () =>
  Promise.resolve<AuthenticationResult>({
    principal: ANONYMOUS,
    trace: { level: 'enforce', outcome: 'passed', principal: 'anonymous' },
  });

describe('an undocumented request', () => {
  it('passes if the policy allows it, and is reported if the policy requires it', async () => {
    const { outcome, trace } = dispatched(passes, elsewhere);
    expect(await outcome).toMatchObject({ plan: { operation: undefined }, reply: { status: 299 } });
    expect(trace).toMatchObject({
      undocumented: { level: 'enforce', outcome: 'reported' },
      violations: [{ check: 'undocumented', category: 'not-allowed', location: 'path' }],
    });
    expect(trace.operation).toBeUndefined();
  });

  it('passes unreported if an entry names it, and unexamined if the check is off', async () => {
    const verdict = { pass: true, permission: undefined, reported: false } as const;
    const named = dispatched({ verdict }, elsewhere);
    await named.outcome;
    expect(named.trace).toMatchObject({ undocumented: { outcome: 'passed' }, violations: [] });
    const off = dispatched({ verdict, checks: { ...MODES.strict.checks, undocumented: 'off' } }, elsewhere);
    await off.outcome;
    expect(off.trace.undocumented?.outcome).toBe('skipped');
  });

  it('is refused with 404 if nothing allows it', async () => {
    const { outcome, trace } = dispatched({}, elsewhere);
    expect(await failureOf(outcome)).toMatchObject({ code: 'not_in_contract', status: 404 });
    expect(trace).toMatchObject({ undocumented: { outcome: 'refused' }, violations: [{ location: 'path' }] });
  });

  it('is recorded by the shape of its path, without parts that may identify a person', async () => {
    const { outcome, trace } = dispatched({}, { path: '/services/v2/user/bob/question/17.json' });
    await failureOf(outcome);
    expect(trace.violations).toMatchObject([
      { at: 'GET /services/v2/user/{name}/question/{id}.json', location: 'path' },
    ]);
  });

  // Clients can invent paths, so an unknown word in a path may be a person's name. If the path exists, its words come
  // from the server.
  it('is recorded with the unknown words of its path only if the upstream has that path', async () => {
    const at = async (status: number) => {
      const passed = () => ({ status, headers: [], body: Buffer.from('x'), attempts: 1 });
      const { outcome, trace } = dispatched({ ...passes, passed }, { path: '/services/v2/poll/17/ballot.json' });
      await outcome;
      return trace.violations[0]?.at;
    };
    expect(await at(204)).toBe('GET /services/v2/poll/{id}/ballot.json');
    expect(await at(404)).toBe('GET /services/v2/{name}/{id}/{name}.json');
  });

  it('is refused with 405 and the methods of its path if only the method is wrong', async () => {
    const verdict = { pass: false, code: 'method_not_allowed', allow: ['GET', 'HEAD'] } as const;
    const { outcome, trace } = dispatched({ verdict }, { method: 'DELETE' });
    expect(await failureOf(outcome)).toMatchObject({ status: 405, headers: { Allow: 'GET, HEAD' } });
    expect(trace.violations).toMatchObject([{ location: 'method' }]);
  });

  it('is recorded as a wrong method of its path if it passes', async () => {
    const verdict = { pass: true, permission: undefined, reported: true, documentedPath: true } as const;
    const { outcome, trace } = dispatched({ verdict }, { method: 'DELETE' });
    await outcome;
    expect(trace.violations).toMatchObject([{ location: 'method', keyword: 'method' }]);
  });

  it('has no documented path for the methods of switched-off operations', async () => {
    const match = { undocumentedMethods: new Set(['PUT']) };
    const off = dispatched({ match }, { method: 'PUT' });
    const other = dispatched({ match }, { method: 'DELETE' });
    await Promise.all([failureOf(off.outcome), failureOf(other.outcome)]);
    expect([off.judged[0]?.[2], other.judged[0]?.[2]?.size]).toEqual([undefined, 1]);
  });

  it("needs its caller's credential if a service account would otherwise be used", async () => {
    const service = { ...passes, serviceCredential: true };
    const refused = dispatched({ ...service, authenticate: anonymous }, elsewhere);
    expect(await failureOf(refused.outcome)).toMatchObject({ code: 'needs_caller_credential' });
    expect(await dispatched(service, elsewhere).outcome).toMatchObject({ reply: { status: 299 } });
    const forwarding = dispatched({ ...passes, authenticate: anonymous }, elsewhere);
    expect(await forwarding.outcome).toMatchObject({ reply: { status: 299 } });
  });
});

const delegates = () => ({ verdict: 'delegated', because: 'unmapped' }) as const;
const denies = () => ({ verdict: 'denied', missing: ['Answer'] }) as const;

describe('the permission of an allowed path', () => {
  const entry = { pass: true, permission: 'Answer', reported: false } as const;

  it('is required of its caller', async () => {
    const asked: string[] = [];
    const decidePermission: FakeGatewayParts['decidePermission'] = (permission) => {
      asked.push(permission);
      return { verdict: 'allowed', because: permission };
    };
    const { outcome, trace } = dispatched({ verdict: entry, decidePermission }, elsewhere);
    await outcome;
    expect(asked).toEqual(['Answer']);
    expect(trace.permissions).toMatchObject({ outcome: 'passed' });
  });

  it('is enforced or reported', async () => {
    const refused = dispatched({ verdict: entry, decidePermission: denies }, elsewhere);
    expect(await failureOf(refused.outcome)).toMatchObject({ status: 403, details: [{ permission: 'Answer' }] });
    expect(refused.trace.permissions?.outcome).toBe('refused');
    const checks = { ...MODES.strict.checks, permissions: 'report' as const };
    const reported = dispatched({ verdict: entry, decidePermission: denies, checks }, elsewhere);
    await reported.outcome;
    expect(reported.trace.permissions?.outcome).toBe('reported');
  });

  it('is not required if permissions are off or the entry names none', async () => {
    const off = dispatched(
      { verdict: entry, decidePermission: denies, checks: { ...MODES.strict.checks, permissions: 'off' } },
      elsewhere,
    );
    const none = dispatched({ ...passes, decidePermission: denies }, elsewhere);
    await Promise.all([off.outcome, none.outcome]);
    expect([off.trace.permissions, none.trace.permissions]).toEqual([undefined, undefined]);
  });

  it('is left to the upstream for a caller whom only the upstream knows', async () => {
    const { outcome, trace } = dispatched({ verdict: entry, decidePermission: delegates }, elsewhere);
    await outcome;
    expect(trace.permissions).toMatchObject({ outcome: 'skipped', reason: 'delegated: unmapped' });
  });
});
