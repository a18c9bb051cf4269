import { beforeEach, describe, expect, it } from 'vitest';
import { createPageCache, type PageCache } from '../../../../src/engine/cache/memory-pages.ts';
import { GatewayError } from '../../../../src/engine/errors/gateway-error.ts';
import type { Reply } from '../../../../src/engine/pipeline/reply.ts';
import { coalesce } from '../../../../src/engine/pipeline/stages/coalesce.ts';
import {
  callerNamed,
  createNext,
  exchangeWith,
  failureOf,
  kept,
  pageOf,
  type PlannedParts,
  plannedWith,
  replyWith,
  stageIn,
} from '../../../builders/exchange.ts';
import { createTestClock } from '../../../builders/test-clock.ts';

let cache: PageCache;
let gate: PromiseWithResolvers<Reply>;

beforeEach(() => {
  cache = createPageCache({ maxBytes: 1 << 20, maxEntryBytes: 1 << 16, gzip: true, zstd: true }, createTestClock());
  gate = Promise.withResolvers();
});

/** Creates the stage. The first upstream request waits for `gate`, and all later ones are served immediately. */
function coalesced(parts: PlannedParts = {}) {
  const next = createNext(() => (next.asked.length === 1 ? gate.promise : replyWith(pageOf([2]))));
  return { next, handle: stageIn(coalesce(cache), plannedWith({ cache: kept(), ...parts }), next) };
}

const shared: PlannedParts = { cache: kept({ audience: 'public', assumeImpersonal: true }) };

describe('coalesce', () => {
  it('has work only for cached operations', () => {
    expect(coalesce(cache).plan(plannedWith())).toBeUndefined();
  });

  it('fetches once for concurrent requests for a page, and marks which requests joined', async () => {
    const { next, handle } = coalesced();
    const replies = [handle(exchangeWith()), handle(exchangeWith())];
    gate.resolve(replyWith(pageOf([1])));
    const [first, second] = await Promise.all(replies);
    expect(next.asked).toHaveLength(1);
    expect([first?.shared, second?.shared]).toEqual([undefined, true]);
    expect(second?.body).toBe(first?.body);
  });

  it('counts the joined requests even if the exchange fails', async () => {
    const { next, handle } = coalesced();
    const exchanges = [exchangeWith(), exchangeWith()];
    for (const { trace } of exchanges) trace.cache = { status: 'miss', reason: 'miss', stored: false };
    const failures = exchanges.map((exchange) => failureOf(handle(exchange)));
    gate.reject(new GatewayError('upstream_reset', 'broken'));
    await Promise.all(failures);
    expect(next.asked).toHaveLength(1);
    expect(exchanges.map(({ trace }) => trace.cache?.status)).toEqual(['miss', 'coalesced']);
  });

  it('does not count a request for a fresh response as joined if the exchange fails', async () => {
    const { handle } = coalesced();
    const exchanges = [exchangeWith(), exchangeWith()];
    for (const { trace } of exchanges) trace.cache = { status: 'bypass', reason: 'no-cache', stored: false };
    const failures = exchanges.map((exchange) => failureOf(handle(exchange)));
    gate.reject(new GatewayError('upstream_reset', 'broken'));
    await Promise.all(failures);
    expect(exchanges.map(({ trace }) => trace.cache?.status)).toEqual(['bypass', 'bypass']);
  });

  it('fetches again once the first fetch is done', async () => {
    const { next, handle } = coalesced();
    gate.resolve(replyWith(pageOf([1])));
    await handle(exchangeWith());
    await handle(exchangeWith());
    expect(next.asked).toHaveLength(2);
  });

  it('fetches for each audience and target separately', async () => {
    const { next, handle } = coalesced();
    const first = handle(exchangeWith());
    await handle(exchangeWith({ audience: 'caller:other' }));
    await handle(exchangeWith({ target: '/services/v2/thing.json?page=2' }));
    gate.resolve(replyWith({}));
    await first;
    expect(next.asked).toHaveLength(3);
  });

  it('does not serve requests after a purge with a fetch from before the purge', async () => {
    const { next, handle } = coalesced();
    const before = handle(exchangeWith());
    cache.purge(['unrelated']);
    const after = await handle(exchangeWith());
    expect(after.shared).toBeUndefined();
    gate.resolve(replyWith({}));
    await before;
    expect(next.asked).toHaveLength(2);
  });

  it('fails all waiting requests when the one fetch fails', async () => {
    const { next, handle } = coalesced();
    const replies = [handle(exchangeWith()), handle(exchangeWith())].map(failureOf);
    const error = new GatewayError('upstream_permission_denied', '');
    gate.reject(error);
    expect(await Promise.all(replies)).toEqual([error, error]);
    expect(next.asked).toHaveLength(1);
  });

  it.each([
    ['translated', (given: typeof gate) => given.reject(new GatewayError('upstream_permission_denied', ''))],
    ['with its own status', (given: typeof gate) => given.resolve(replyWith({ error: 'no' }, { status: 401 }))],
  ])('fetches for each caller of a shared page once the upstream refuses it to one (%s)', async (_how, refuse) => {
    const { next, handle } = coalesced(shared);
    const first = handle(exchangeWith()).catch(() => undefined);
    const second = handle(exchangeWith());
    refuse(gate);
    await first;
    expect(await second).toMatchObject({ status: 200 });
    expect((await second).shared).toBeUndefined();
    expect(next.asked).toHaveLength(2);
  });

  it('fetches once for a shared page that the upstream returns', async () => {
    const { next, handle } = coalesced(shared);
    const replies = [handle(exchangeWith()), handle(exchangeWith())];
    gate.resolve(replyWith(pageOf([1])));
    expect((await Promise.all(replies))[1]?.shared).toBe(true);
    expect(next.asked).toHaveLength(1);
  });

  it('fetches once for each caller, even if each is refused', async () => {
    const { next, handle } = coalesced(shared);
    const refused = new GatewayError('upstream_permission_denied', '');
    next.respond = () => (next.asked.length === 1 ? gate.promise : Promise.reject(refused));
    const replies = [handle(exchangeWith()), handle(exchangeWith())].map(failureOf);
    gate.reject(refused);
    expect(await Promise.all(replies)).toEqual([refused, refused]);
    expect(next.asked).toHaveLength(2);
  });

  it("passes a refusal to the same caller's second request", async () => {
    const { next, handle } = coalesced();
    const replies = [handle(exchangeWith()), handle(exchangeWith())];
    gate.resolve(replyWith({ error: 'no' }, { status: 401 }));
    expect((await Promise.all(replies))[1]).toMatchObject({ status: 401, shared: true });
    expect(next.asked).toHaveLength(1);
  });

  // The upstream's error may be due to the credential of the caller whose request was sent.
  it.each([
    ['a server error', Object.assign(new GatewayError('upstream_error', ''), { replacedStatus: 500 })],
    ['a login redirect', Object.assign(new GatewayError('upstream_redirect', ''), { replacedStatus: 302 })],
    ['a page isolated for the caller', new GatewayError('upstream_page_failing', '')],
  ])("fetches a shared page once more, for all other callers, after one caller's failure: %s", async (_what, error) => {
    const { next, handle } = coalesced(shared);
    const first = failureOf(handle(exchangeWith()));
    const again = failureOf(handle(exchangeWith()));
    const others = ['bob', 'carol'].map((name) => handle(exchangeWith({ principal: callerNamed(name) })));
    gate.reject(error);
    // The caller's own second request gets the same failure.
    expect([await first, await again]).toEqual([error, error]);
    expect(await Promise.all(others)).toMatchObject([{ status: 200 }, { status: 200, shared: true }]);
    expect(next.asked).toHaveLength(2);
  });

  it('fetches a shared page at most twice if it fails for everyone', async () => {
    const { next, handle } = coalesced(shared);
    const error = Object.assign(new GatewayError('upstream_error', ''), { replacedStatus: 500 });
    next.respond = () => (next.asked.length === 1 ? gate.promise : Promise.reject(error));
    const replies = ['alice', 'bob', 'carol'].map((name) =>
      failureOf(handle(exchangeWith({ principal: callerNamed(name) }))),
    );
    gate.reject(error);
    expect(await Promise.all(replies)).toEqual([error, error, error]);
    expect(next.asked).toHaveLength(2);
  });

  it('does not fetch a shared page again if it failed for another reason', async () => {
    const { next, handle } = coalesced(shared);
    const replies = [handle(exchangeWith()), handle(exchangeWith())].map(failureOf);
    gate.reject(new GatewayError('upstream_error', ''));
    await Promise.all(replies);
    expect(next.asked).toHaveLength(1);
  });
});
