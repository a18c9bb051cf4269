import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { HeaderPairs } from '../../../../src/engine/model/header-pairs.ts';
import type { Operation } from '../../../../src/engine/model/operation.ts';
import { ANONYMOUS, type Principal } from '../../../../src/engine/model/principal.ts';
import { UpstreamFailure } from '../../../../src/engine/model/upstream-failure.ts';
import { DEFAULT_JSON_LIMITS } from '../../../../src/lib/bounded-json.ts';
import type { Violation } from '../../../../src/engine/model/violation.ts';
import type { Reply } from '../../../../src/engine/pipeline/reply.ts';
import { describeTranslation, translateFailure } from '../../../../src/engine/pipeline/stages/translate-failure.ts';
import { decodeForInspection } from '../../../../src/engine/upstream/response-body.ts';
import {
  createNext,
  type ExchangeParts,
  exchangeWith,
  failureOf,
  type PlannedParts,
  plannedWith,
  replyWith,
  stageIn,
  traceWith,
} from '../../../builders/exchange.ts';

const CHALLENGE = 'Basic realm="test"';

function translating(
  respond: Parameters<typeof createNext>[0],
  parts: PlannedParts = {},
  accepted: readonly string[] = [],
) {
  const forgotten: Principal[] = [];
  const services = {
    challenge: CHALLENGE,
    jsonLimits: DEFAULT_JSON_LIMITS,
    isPermissionMessage: (message: string) => message.includes('permission'),
    authenticator: { forget: (principal: Principal) => void forgotten.push(principal) },
    isAccepted: (_: Operation, { keyword }: Violation) => accepted.includes(keyword),
    decode: (headers: HeaderPairs, body: Buffer) => decodeForInspection({ status: 200, headers, body }, 1_000_000),
  };
  const handle = stageIn(translateFailure(services), plannedWith(parts), createNext(respond));
  return { forgotten, send: (more: ExchangeParts = {}) => handle(exchangeWith(more)) };
}

const refused = replyWith({ error: 'wrong password' }, { status: 401 });
const inside = replyWith({ error: 'broken' });

describe('translate-failure', () => {
  it('forwards a success response unchanged', async () => {
    const reply = replyWith({ list: [], error: null });
    expect(await translating(reply).send()).toBe(reply);
  });

  it("turns an upstream error into one of Portico's", async () => {
    const { send, forgotten } = translating(replyWith({ error: 'not found' }, { status: 404 }));
    expect(await failureOf(send())).toMatchObject({ code: 'upstream_not_found', message: 'not found' });
    expect(forgotten).toEqual([]);
  });

  // The Location header may name an internal host of the upstream.
  it('does not forward a redirect, even one with a JSON body', async () => {
    const { send } = translating(replyWith({ list: [] }, { status: 302 }));
    expect(await failureOf(send())).toMatchObject({ code: 'upstream_redirect', status: 502 });
  });

  it("turns an error inside a success response into Portico's, unless a documented field is beside it", async () => {
    expect(await failureOf(translating(inside).send())).toMatchObject({ code: 'upstream_error_in_success' });
    const documented = translating(inside, { operation: { documentedFields: ['error'] } });
    expect(await documented.send()).toBe(inside);
  });

  it.each(['normalized', 'legacy'] as const)(
    "turns a failed transport into Portico's error with %s errors",
    async (errors) => {
      const { send } = translating(() => Promise.reject(new UpstreamFailure('deadline')), { errors });
      expect(await failureOf(send())).toMatchObject({ code: 'upstream_timeout', status: 504 });
    },
  );

  it("rethrows Portico's own failures", async () => {
    const error = new Error('unexpected');
    expect(await failureOf(translating(() => Promise.reject(error)).send())).toBe(error);
  });

  it('forgets a credential that the upstream refuses', async () => {
    const { send, forgotten } = translating(refused);
    expect(await failureOf(send())).toMatchObject({ status: 401, headers: { 'WWW-Authenticate': CHALLENGE } });
    expect(forgotten).toMatchObject([{ name: 'alice' }]);
  });

  it('forgets no credential when the service account is refused, and raises an alarm', async () => {
    const { send, forgotten } = translating(refused, { serviceCredential: true });
    expect(await failureOf(send())).toMatchObject({ code: 'upstream_credentials_refused', status: 502 });
    expect(forgotten).toEqual([]);
  });

  it("blames the caller's own credential if it was sent instead of the service account", async () => {
    const { send, forgotten } = translating(refused, { serviceCredential: true });
    expect(await failureOf(send({ delegated: true }))).toMatchObject({ code: 'upstream_unauthorized' });
    expect(forgotten).toHaveLength(1);
  });

  it('challenges an anonymous caller, who has no credential to forget', async () => {
    const { send, forgotten } = translating(refused);
    expect(await failureOf(send({ principal: ANONYMOUS }))).toMatchObject({ status: 401 });
    expect(forgotten).toEqual([]);
  });
});

describe('translate-failure with legacy errors', () => {
  it.each([401, 404, 500])('keeps a response with status %i unchanged', async (status) => {
    const reply = replyWith({ error: 'x' }, { status });
    expect(await translating(reply, { errors: 'legacy' }).send()).toBe(reply);
  });

  it('keeps an error inside a success response', async () => {
    expect(await translating(inside, { errors: 'legacy' }).send()).toBe(inside);
  });

  it('still forgets a refused credential', async () => {
    const { send, forgotten } = translating(refused, { errors: 'legacy' });
    await send();
    expect(forgotten).toHaveLength(1);
  });

  it('forgets no credential for a missing permission, nor in observe mode', async () => {
    const denied = translating(replyWith({ error: 'no permission' }, { status: 401 }), { errors: 'legacy' });
    await denied.send();
    const observed = translating(refused, { errors: 'legacy', transparent: true });
    await observed.send();
    expect([...denied.forgotten, ...observed.forgotten]).toEqual([]);
  });
});

/** An upstream error, and the status that clients get if errors are normalized. */
const html = (status: number): Reply => ({
  ...replyWith('', { status }),
  headers: [['Content-Type', 'text/html']],
  body: Buffer.from('<html><body>no permission</body></html>'),
});
const CHANGES: readonly (readonly [string, Reply, string, number])[] = [
  ['a 401 with a permission message', replyWith({ error: 'no permission' }, { status: 401 }), 'permission_denied', 403],
  [
    'a 401 with the other form of a permission message',
    replyWith({ errors: { message: 'no permission' } }, { status: 401 }),
    'permission_denied',
    403,
  ],
  ['an HTML page with 401', html(401), 'html', 502],
  ['an HTML page with 404', html(404), 'html', 502],
  ['a redirect', replyWith({}, { status: 302 }), 'redirect', 502],
  ['a 500', replyWith({ error: 'x' }, { status: 500 }), 'error', 502],
  ['a status that says nothing to clients', replyWith({ error: 'x' }, { status: 418 }), 'error', 502],
  ['an error in a 200', replyWith({ error: 'x' }), 'error_in_success', 502],
  ['a permission message in a 200', replyWith({ errors: { message: 'no permission' } }), 'permission_denied', 403],
];
const observed: PlannedParts = { errors: 'legacy', transparent: true };

/** Runs the stage and returns the trace and either the reply or the error. */
async function outcomeOf(reply: Reply, parts: PlannedParts = {}, accepted: readonly string[] = []) {
  const trace = traceWith({ upstream: { status: reply.status, shape: 'answer', seconds: 0, attempts: 1 } });
  const { send } = translating(reply, parts, accepted);
  return { trace, result: await send({ trace }).catch((error: unknown) => error) };
}

describe('the verdict of the translation', () => {
  it.each(CHANGES)('foretells in observe mode what happens to %s', async (_what, reply, code, status) => {
    const { trace, result } = await outcomeOf(reply, observed);
    expect(result).toBe(reply);
    expect(trace.errors).toEqual({ level: 'report', outcome: 'reported', changedTo: status });
    expect(trace.violations).toEqual([]);
    expect(trace.incidents).toEqual([
      expect.objectContaining({
        check: 'errors',
        category: 'advisory',
        keyword: `upstream_${code}`,
        message: `With normalized errors, status ${reply.status} becomes ${status} (upstream_${code}).`,
        suggestion: 'operations.listThings.errors: legacy',
      }),
    ]);
  });

  it.each(CHANGES)('is the same once errors are normalized: %s', async (_what, reply, code, status) => {
    const { trace, result } = await outcomeOf(reply);
    expect(result).toMatchObject({ code: `upstream_${code}`, status, replacedStatus: reply.status });
    expect(trace.errors).toEqual({ level: 'enforce', outcome: 'refused', changedTo: status });
    expect(trace.incidents).toMatchObject([{ check: 'errors', keyword: `upstream_${code}` }]);
  });

  it.each(CHANGES)('reads a compressed response in observe mode: %s', async (_what, reply, _code, status) => {
    const zipped = {
      ...reply,
      headers: [...reply.headers, ['Content-Encoding', 'gzip'] as const],
      body: gzipSync(reply.body as Buffer),
    };
    expect((await outcomeOf(zipped, observed)).trace.errors).toMatchObject({ changedTo: status });
  });

  it('passes a success, and an error that keeps its status', async () => {
    for (const reply of [replyWith({ list: [] }), replyWith({ error: 'x' }, { status: 404 })])
      for (const parts of [observed, {}]) {
        const { trace } = await outcomeOf(reply, parts);
        expect(trace.errors?.outcome).toBe('passed');
        expect(trace.incidents).toBeUndefined();
      }
  });

  it('foretells nothing where somebody has decided to keep the errors', async () => {
    const { trace, result } = await outcomeOf(replyWith({}, { status: 302 }), { errors: 'legacy' });
    expect(result).toMatchObject({ status: 302 });
    expect(trace.errors).toMatchObject({ level: 'off', outcome: 'skipped' });
    expect(trace.incidents).toBeUndefined();
  });

  it.each(CHANGES)('honors an acceptance of the change: %s is forwarded as it is', async (_what, reply, code) => {
    const { trace, result } = await outcomeOf(reply, {}, [`upstream_${code}`]);
    expect(result).toBe(reply);
    expect(trace.errors).toMatchObject({ outcome: 'passed', reason: 'accepted' });
    // The change is still recorded, so that the entry in the baseline does not appear to be obsolete.
    expect(trace.incidents).toHaveLength(1);
  });

  it.each(CHANGES)('honors an acceptance of the violations: %s is forwarded as it is', async (_what, given) => {
    const body = { isJson: false, isOuterForm: false, hasTopLevelError: true, pageCount: undefined, tags: [] };
    const reply: Reply = { ...given, facts: { validity: 'accepted', body } };
    const { trace, result } = await outcomeOf(reply);
    expect(result).toBe(reply);
    expect(trace.errors).toMatchObject({ outcome: 'passed', reason: 'accepted' });
    expect(trace.incidents).toBeUndefined();
  });

  it('never lets an acceptance hide that the service account is refused', async () => {
    const parts = { serviceCredential: true };
    const reply = replyWith(
      { error: 'x' },
      { status: 401, facts: { ...refused.facts, validity: 'accepted' } as never },
    );
    const { result } = await outcomeOf(reply, parts, ['upstream_credentials_refused']);
    expect(result).toMatchObject({ code: 'upstream_credentials_refused' });
  });

  it('still forgets a refused credential if the response is forwarded', async () => {
    const reply = html(401);
    const { send, forgotten } = translating(
      { ...reply, body: Buffer.from('{"note":"x"}'), facts: { ...refused.facts, validity: 'accepted' } as never },
      {},
    );
    await failureOf(send());
    expect(forgotten).toHaveLength(1);
  });

  it('records that a 200 with an error inside is an error, so that it is not taken for a permission', async () => {
    for (const parts of [observed, {}, { errors: 'legacy' } as const]) {
      const { trace } = await outcomeOf(replyWith({ error: 'no permission' }), parts);
      expect(trace.upstream?.shape).toBe('error inside');
    }
  });

  it('does not end an exchange in observe mode if it fails itself', async () => {
    const reply = { ...replyWith({ error: 'x' }, { status: 401 }), headers: null as never };
    const { trace, result } = await outcomeOf(reply, observed);
    expect(result).toBe(reply);
    expect(trace.errors?.outcome).toBe('failed');
  });

  it('is described for each level', () => {
    const words = (parts: PlannedParts) => describeTranslation(plannedWith(parts));
    expect(words({})).toContain('operations: { listThings: { errors: legacy } } keeps them');
    expect(words(observed)).toContain('with normalized errors');
    expect(words({ errors: 'legacy' })).toBe('none: upstream errors are forwarded unchanged');
  });
});
