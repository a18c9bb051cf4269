import { describe, expect, it } from 'vitest';
import type { ErrorCode } from '../../../../src/engine/errors/catalogue.ts';
import { GatewayError } from '../../../../src/engine/errors/gateway-error.ts';
import type { Reply } from '../../../../src/engine/pipeline/reply.ts';
import { createFailingPages, isolatePage } from '../../../../src/engine/pipeline/stages/isolate-page.ts';
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

const OK = replyWith(pageOf([1]));
const failure = (code: ErrorCode) => new GatewayError(code, 'failed');

/** Creates the stage with an upstream that returns `state.outcome` if it is a reply and fails with it otherwise. */
function isolated(options = { after: 2, seconds: 5 }) {
  const clock = createTestClock();
  const state: { outcome: Reply | GatewayError } = { outcome: failure('upstream_reset') };
  const next = createNext(() =>
    state.outcome instanceof GatewayError ? Promise.reject(state.outcome) : Promise.resolve(state.outcome),
  );
  const planner = isolatePage({ failingPages: createFailingPages(options, clock) });
  const handle = stageIn(planner, plannedWith({ cache: kept() }), next);
  /** Returns the error's code or, if there is no error, the status. */
  const ask = async (target = '/services/v2/thing.json') => {
    try {
      return (await handle(exchangeWith({ target }))).status;
    } catch (error) {
      return error instanceof GatewayError ? error.code : error;
    }
  };
  return { clock, state, next, ask, handle };
}

describe('isolate-page', () => {
  it('has work only for stored operations, and none if it is switched off', () => {
    const planner = (after: number) =>
      isolatePage({ failingPages: createFailingPages({ after, seconds: 5 }, createTestClock()) });
    expect(planner(2).plan(plannedWith())).toBeUndefined();
    expect(planner(0).plan(plannedWith({ cache: kept() }))).toBeUndefined();
  });

  it('refuses a page after its failures in a row, without asking the upstream, and no other page', async () => {
    const { ask, next, state, handle } = isolated();
    expect([await ask(), await ask(), await ask()]).toEqual([
      'upstream_reset',
      'upstream_reset',
      'upstream_page_failing',
    ]);
    expect(await failureOf(Promise.try(handle, exchangeWith()))).toMatchObject({
      status: 503,
      headers: { 'Retry-After': '5' },
    });
    expect(next.asked).toHaveLength(2);
    state.outcome = OK;
    expect(await ask('/services/v2/thing.json?page=2')).toBe(200);
  });

  it('fetches the page again after the time, and refuses it again if that fails', async () => {
    const { ask, clock, state } = isolated();
    await ask();
    await ask();
    clock.advance(4.9);
    expect(await ask()).toBe('upstream_page_failing');
    clock.advance(0.1);
    expect([await ask(), await ask()]).toEqual(['upstream_reset', 'upstream_page_failing']);
    clock.advance(5);
    state.outcome = OK;
    expect(await ask()).toBe(200);
    state.outcome = failure('upstream_timeout');
    expect([await ask(), await ask(), await ask()]).toEqual([
      'upstream_timeout',
      'upstream_timeout',
      'upstream_page_failing',
    ]);
  });

  it('does not count failures that are more than a minute apart', async () => {
    const { ask, clock } = isolated();
    await ask();
    clock.advance(60);
    expect([await ask(), await ask(), await ask()]).toEqual([
      'upstream_reset',
      'upstream_reset',
      'upstream_page_failing',
    ]);
  });

  it.each([
    'upstream_refused',
    'upstream_overloaded',
    'upstream_circuit_open',
    'upstream_not_found',
    'upstream_invalid_response',
  ] as const)('does not count %s, which is not the failure of a page', async (code) => {
    const { ask, state } = isolated({ after: 1, seconds: 5 });
    state.outcome = failure(code);
    expect([await ask(), await ask()]).toEqual([code, code]);
  });

  // Callers who share a page may still send different credentials, and the upstream may fail for only one of them.
  describe('on a page that callers share', () => {
    const shared = { cache: kept({ audience: 'public', assumeImpersonal: true }) } as const;
    const asking = (parts: PlannedParts = shared) => {
      const next = createNext(({ principal }) =>
        principal.name === 'broken' ? Promise.reject(failure('upstream_error')) : Promise.resolve(OK),
      );
      const planner = isolatePage({ failingPages: createFailingPages({ after: 2, seconds: 5 }, createTestClock()) });
      const handle = stageIn(planner, plannedWith(parts), next);
      return async (name: string) => {
        const principal = callerNamed(name);
        const reply = handle(exchangeWith({ principal, audience: 'public' }));
        return reply.then(({ status }) => status).catch((error: unknown) => (error as GatewayError).code);
      };
    };

    it("does not refuse it to other callers because of one caller's failures", async () => {
      const ask = asking();
      expect([await ask('broken'), await ask('broken'), await ask('broken')]).toEqual([
        'upstream_error',
        'upstream_error',
        'upstream_page_failing',
      ]);
      expect(await ask('alice')).toBe(200);
      // Another caller's success does not end the isolation either.
      expect(await ask('broken')).toBe('upstream_page_failing');
    });

    it('refuses it to all callers if the service account fetches it for all of them', async () => {
      const ask = asking({ ...shared, serviceCredential: true });
      await ask('broken');
      await ask('broken');
      expect(await ask('alice')).toBe('upstream_page_failing');
    });
  });

  it('does not count an error that replaces a 4xx response, but one that replaces a 5xx response', async () => {
    for (const [status, code] of [
      [418, 'upstream_error'],
      [500, 'upstream_page_failing'],
    ] as const) {
      const { ask, state } = isolated({ after: 1, seconds: 5 });
      state.outcome = Object.assign(failure('upstream_error'), { replacedStatus: status });
      expect([await ask(), await ask()]).toEqual(['upstream_error', code]);
    }
  });

  it('counts server errors that are forwarded, in the legacy style', async () => {
    const { ask, state } = isolated({ after: 1, seconds: 5 });
    state.outcome = { ...OK, status: 500 };
    expect([await ask(), await ask()]).toEqual([500, 'upstream_page_failing']);
  });

  // The attack: a client keeps requesting different pages that fail, until the table of failing pages fills memory.
  it('remembers at most a thousand failing pages, and forgets the one that failed least recently', async () => {
    const { ask } = isolated();
    const page = (number: number) => `/services/v2/thing.json?page=${number}`;
    for (let number = 0; number < 1000; number += 1) await ask(page(number));
    await ask(page(0));
    await ask(page(1000));
    expect(await ask(page(0))).toBe('upstream_page_failing');
    // The first of these two failures counts as the page's first failure, because the earlier one was forgotten.
    expect([await ask(page(1)), await ask(page(1))]).toEqual(['upstream_reset', 'upstream_reset']);
  });
});
