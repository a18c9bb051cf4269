import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../../src/engine/errors/gateway-error.ts';
import type { Decision } from '../../../../src/engine/model/operation.ts';
import { authorize } from '../../../../src/engine/pipeline/stages/authorize.ts';
import {
  createNext,
  exchangeWith,
  failureOf,
  type PlannedParts,
  plannedWith,
  replyWith,
  stageIn,
  traceWith,
} from '../../../builders/exchange.ts';

const ALLOWED: Decision = { verdict: 'allowed', because: 'See things' };
const DENIED: Decision = { verdict: 'denied', missing: ['See things', 'See more'] };
const DELEGATED: Decision = { verdict: 'delegated', because: 'ownership' };
const CHALLENGE = 'Basic realm="test"';

function authorized(decision: Decision | Promise<Decision>, parts: PlannedParts = {}, next = createNext()) {
  const handle = stageIn(
    authorize(() => decision, CHALLENGE),
    plannedWith(parts),
    next,
  );
  return { handle, next };
}

const mismatches = ({ violations }: ReturnType<typeof traceWith>) =>
  violations.filter(({ category }) => category === 'permission-mismatch');

const report: PlannedParts = { checks: { permissions: 'report' } };

describe('authorize', () => {
  it('has no work if permissions are off, but has some for operations without requirements', () => {
    const stage = authorize(() => ALLOWED, CHALLENGE);
    expect(stage.plan(plannedWith({ checks: { permissions: 'off' } }))).toBeUndefined();
    expect(stage.plan(plannedWith({ operation: { requires: undefined } }))).toBeDefined();
  });

  it('admits an allowed caller and records why', async () => {
    const { handle, next } = authorized(ALLOWED);
    const exchange = exchangeWith();
    await handle(exchange);
    expect(exchange.trace.permissions).toEqual({ level: 'enforce', outcome: 'passed', decision: ALLOWED });
    expect(next.asked).toEqual([exchange]);
  });

  it('refuses a denied caller before sending a request', async () => {
    const { handle, next } = authorized(DENIED);
    const exchange = exchangeWith();
    expect(await failureOf(handle(exchange))).toMatchObject({ code: 'permission_denied', status: 403 });
    expect(next.asked).toEqual([]);
    expect(exchange.trace.permissions).toMatchObject({ level: 'enforce', outcome: 'refused', decision: DENIED });
  });

  it('waits for a decision that needs a lookup', async () => {
    const { handle, next } = authorized(Promise.resolve(DENIED));
    await failureOf(handle(exchangeWith()));
    expect(next.asked).toEqual([]);
  });

  it('admits a denied caller at the `report` level, and reports it', async () => {
    const { handle, next } = authorized(DENIED, report);
    const exchange = exchangeWith();
    await handle(exchange);
    expect(exchange.trace.permissions).toMatchObject({ level: 'report', outcome: 'reported' });
    expect(next.asked).toHaveLength(1);
  });

  it("sends the caller's own credential if only the upstream can decide", async () => {
    const { handle, next } = authorized(DELEGATED);
    const exchange = exchangeWith();
    await handle(exchange);
    expect(next.asked[0]?.delegated).toBe(true);
    expect(exchange.trace.permissions).toMatchObject({ outcome: 'skipped', reason: 'delegated: ownership' });
  });

  it('keeps the delegation of a caller without a mapping even if nothing is required', async () => {
    const { handle, next } = authorized(ALLOWED);
    await handle(exchangeWith({ delegated: true }));
    expect(next.asked[0]?.delegated).toBe(true);
  });
});

const upstream = (denied: boolean, status = denied ? 403 : 200) => ({
  status,
  shape: 'answer',
  denied,
  seconds: 0,
  attempts: 1,
});

describe('two verdicts on one caller', () => {
  it("are a mismatch if the upstream denies what Portico's rules allow", async () => {
    const { handle } = authorized(
      ALLOWED,
      {},
      createNext(() => Promise.reject(new GatewayError('upstream_permission_denied', 'no'))),
    );
    const trace = traceWith({ upstream: upstream(true) });
    await failureOf(handle(exchangeWith({ trace })));
    expect(trace.violations).toMatchObject([
      { category: 'permission-mismatch', keyword: 'upstream-denied', direction: 'response' },
    ]);
  });

  it("are a mismatch if the upstream allows what Portico's rules deny", async () => {
    const { handle } = authorized(DENIED, report);
    const trace = traceWith({ upstream: upstream(false) });
    await handle(exchangeWith({ trace }));
    expect(trace.violations).toMatchObject([{ keyword: 'permission-denied' }, { keyword: 'upstream-allowed' }]);
  });

  it('are not a mismatch if both deny or both allow', async () => {
    const both = traceWith({ upstream: upstream(true) });
    await authorized(DENIED, report, createNext(replyWith({}, { status: 403 }))).handle(exchangeWith({ trace: both }));
    const neither = traceWith({ upstream: upstream(false) });
    await authorized(ALLOWED).handle(exchangeWith({ trace: neither }));
    expect([mismatches(both), mismatches(neither)]).toEqual([[], []]);
  });

  it('are not a mismatch if the upstream failed for another reason', async () => {
    const { handle } = authorized(DENIED, report, createNext(replyWith({}, { status: 400 })));
    const trace = traceWith({ upstream: upstream(false, 400) });
    await handle(exchangeWith({ trace }));
    expect(mismatches(trace)).toEqual([]);
  });

  it('are not a mismatch if the upstream may have withheld something private', async () => {
    const parts: PlannedParts = { operation: { mayBePrivate: true } };
    const denied = traceWith({ upstream: upstream(true) });
    const refusing = createNext(() => Promise.reject(new GatewayError('upstream_permission_denied', 'no')));
    await failureOf(authorized(ALLOWED, parts, refusing).handle(exchangeWith({ trace: denied })));
    const allowed = traceWith({ upstream: upstream(false) });
    await authorized(DENIED, { ...parts, ...report }).handle(exchangeWith({ trace: allowed }));
    expect([mismatches(denied).length, mismatches(allowed).map(({ keyword }) => keyword)]).toEqual([
      0,
      ['upstream-allowed'],
    ]);
  });

  it('are not a mismatch if the upstream received no request', async () => {
    const exchange = exchangeWith();
    await authorized(DENIED, report).handle(exchange);
    expect(mismatches(exchange.trace)).toEqual([]);
  });

  it('are not a mismatch if the decision was left to the upstream', async () => {
    const trace = traceWith({ upstream: upstream(true) });
    await authorized(DELEGATED).handle(exchangeWith({ trace }));
    expect(trace.violations).toEqual([]);
  });
});

const atOnce = (decision: Decision, parts: PlannedParts = {}) => {
  const reply = replyWith({});
  const handle = authorize(() => decision, CHALLENGE).plan(plannedWith(parts))?.(() => reply);
  if (handle === undefined) throw new Error('no work');
  return { reply, handle };
};

describe('authorize before a synchronous reply', () => {
  it('replies synchronously', () => {
    const { handle, reply } = atOnce(ALLOWED);
    const exchange = exchangeWith();
    expect(handle(exchange)).toBe(reply);
    expect(exchange.trace.permissions).toMatchObject({ outcome: 'passed' });
  });

  it('refuses synchronously, before the following stages run', () => {
    const handle = authorize(() => DENIED, CHALLENGE).plan(plannedWith())?.(() => {
      throw new Error('asked');
    });
    expect(() => handle?.(exchangeWith())).toThrow(GatewayError);
  });

  it('decides for each caller separately', () => {
    const reply = replyWith({});
    const handle = authorize(
      (_planned, { principal }) => (principal.name === 'alice' ? ALLOWED : DENIED),
      CHALLENGE,
    ).plan(plannedWith())?.(() => reply);
    const bob = exchangeWith({ principal: { ...exchangeWith().principal, name: 'bob' } });
    for (let times = 0; times < 3; times += 1) {
      expect(handle?.(exchangeWith())).toBe(reply);
      expect(() => handle?.(bob)).toThrow('See things');
    }
  });

  it('finds no mismatch, because the upstream has not responded', () => {
    const { handle, reply } = atOnce(DENIED, report);
    const exchange = exchangeWith();
    expect(handle(exchange)).toBe(reply);
    expect(exchange.trace.permissions).toMatchObject({ outcome: 'reported' });
    expect(mismatches(exchange.trace)).toEqual([]);
  });
});
