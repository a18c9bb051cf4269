import { describe, expect, it } from 'vitest';
import { ANONYMOUS, type Principal } from '../../../src/model/principal.ts';
import { UpstreamFailure } from '../../../src/model/upstream-failure.ts';
import { DEFAULT_JSON_LIMITS } from '../../../src/lib/bounded-json.ts';
import { translateFailure } from '../../../src/pipeline/stages/translate-failure.ts';
import {
  createNext,
  type ExchangeParts,
  exchangeWith,
  failureOf,
  type PlannedParts,
  plannedWith,
  replyWith,
  stageIn,
} from '../../builders/exchange.ts';

const CHALLENGE = 'Basic realm="test"';

function translating(answer: Parameters<typeof createNext>[0], parts: PlannedParts = {}) {
  const forgotten: Principal[] = [];
  const services = {
    challenge: CHALLENGE,
    jsonLimits: DEFAULT_JSON_LIMITS,
    isPermissionMessage: (message: string) => message.includes('permission'),
    forget: (principal: Principal) => void forgotten.push(principal),
  };
  const handle = stageIn(translateFailure(services), plannedWith(parts), createNext(answer));
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
