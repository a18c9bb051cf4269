import { describe, expect, it } from 'vitest';
import type { Ledger } from '../../../../src/features/ledger/record/create-ledger.ts';
import { LedgerUnavailable } from '../../../../src/engine/model/ledger-entry.ts';
import type { LedgerStore } from '../../../../src/features/ledger/ledger-store.ts';
import { comparisonTrace, type Trace } from '../../../../src/engine/model/trace.ts';
import { flatText, heldMemory } from '../../../builders/held-memory.ts';
import { finished, ledgerWith, memoryStore, NOW } from '../../../builders/ledger.ts';
import { responseViolation } from '../../../builders/response-violation.ts';
import { until } from '../../../builders/until.ts';

const HOUR = 3_600_000;
const entriesOf = async (ledger: Ledger) => (await ledger.snapshot()).entries;
const requestViolation = (at: string) =>
  responseViolation({ check: 'requests', direction: 'request', location: 'query', at });

describe('the ledger', () => {
  it('stores one entry for the same violation at different indices and counts each request once', async () => {
    const ledger = ledgerWith();
    ledger.record(finished([responseViolation({ at: '/list/3/id' }), responseViolation({ at: '/list/4/id' })]));
    ledger.record(finished([responseViolation({ at: '/list/0/id' })], { startedAt: NOW + 5 }));
    expect(await entriesOf(ledger)).toMatchObject([
      {
        at: '/list/*/id',
        count: 2,
        firstSeenAt: NOW,
        lastSeenAt: NOW + 5,
        status: 200,
        operation: 'listQuestions',
        releases: { one: 2 },
      },
    ]);
  });

  it.each<[string, ReturnType<typeof responseViolation>, Partial<Trace>]>([
    ['operation', responseViolation(), { operation: 'listIdeas' }],
    ['status', responseViolation(), { upstream: { status: 201, shape: 'json', seconds: 0, attempts: 1 } }],
    ['check', responseViolation({ check: 'upstream' }), {}],
    ['keyword', responseViolation({ keyword: 'required' }), {}],
    ['location', responseViolation({ location: 'header' }), {}],
    ['schema path', responseViolation({ schemaPath: '#/other' }), {}],
    ['place', responseViolation({ at: '/list/3/title' }), {}],
    ['direction', responseViolation({ direction: 'request' }), {}],
    ['candidate', responseViolation({ candidate: 'newly-refused' }), {}],
  ])('distinguishes violations by %s', async (_what, other, more) => {
    const ledger = ledgerWith();
    ledger.record(finished([responseViolation()]));
    ledger.record(finished([other], more));
    expect(ledger.size()).toBe(2);
    expect(new Set((await entriesOf(ledger)).map((entry) => entry.fingerprint)).size).toBe(2);
  });

  it('computes the same fingerprint for the same violation in another process', async () => {
    const [one, two] = [ledgerWith(), ledgerWith()];
    one.record(finished([responseViolation()]));
    two.record(finished([responseViolation()]));
    expect((await entriesOf(one))[0]?.fingerprint).toBe((await entriesOf(two))[0]?.fingerprint);
  });

  it('stores samples of five requests, the latest last', async () => {
    const ledger = ledgerWith();
    const traces = Array.from({ length: 8 }, () =>
      finished([responseViolation({ found: 'a number' }), responseViolation()]),
    );
    traces.forEach((trace) => ledger.record(trace));
    const wanted = traces
      .slice(-5)
      .map(({ requestId, startedAt }) => ({ requestId, seenAt: startedAt, found: 'a number' }));
    expect((await entriesOf(ledger))[0]?.samples).toEqual(wanted);
  });

  it('counts the requests and check outcomes of each operation', async () => {
    const ledger = ledgerWith();
    const passed = { level: 'report', outcome: 'passed' } as const;
    ledger.record(finished([], { requests: passed }));
    ledger.record(
      finished([], {
        requests: { level: 'report', outcome: 'reported' },
        permissions: { ...passed, outcome: 'refused' },
      }),
    );
    ledger.record(finished([], { operation: undefined, undocumented: passed }));
    ledger.record(finished([], { background: true, responses: { ...passed, verdict: 'valid' } }));
    ledger.record(finished([], { requests: { ...passed, outcome: 'skipped' }, startedAt: NOW + 30 * HOUR }));
    const { traffic } = await ledger.snapshot();
    expect(traffic).toHaveLength(2);
    expect(traffic).toContainEqual({
      operation: 'listQuestions',
      release: 'one',
      requests: 3,
      checks: {
        requests: { passed: 1, reported: 1, refused: 0 },
        permissions: { passed: 0, reported: 0, refused: 1 },
        responses: { passed: 1, reported: 0, refused: 0 },
      },
    });
    expect(traffic).toContainEqual({
      operation: undefined,
      release: 'one',
      requests: 1,
      checks: { undocumented: { passed: 1, reported: 0, refused: 0 } },
    });
  });

  it('counts response checks only for responses that enforcement could refuse', async () => {
    const ledger = ledgerWith();
    const seen = { shape: 'answer', denied: false, seconds: 0.1, attempts: 1 } as const;
    const report = { level: 'report', verdict: 'valid' } as const;
    for (const status of [200, 201, 302, 400, 500]) {
      ledger.record(finished([], { upstream: { ...seen, status }, responses: { ...report, outcome: 'passed' } }));
      ledger.record(finished([], { upstream: { ...seen, status }, responses: { ...report, outcome: 'reported' } }));
    }
    const { traffic } = await ledger.snapshot();
    expect(traffic).toMatchObject([{ requests: 10, checks: { responses: { passed: 2, reported: 2, refused: 0 } } }]);
  });

  it('estimates the number of callers of a violation and counts all anonymous callers as one', async () => {
    const ledger = ledgerWith();
    for (let index = 0; index < 600; index++)
      ledger.record(finished([responseViolation()], { caller: index % 3 === 0 ? undefined : `user-${index % 200}` }));
    const [entry] = await entriesOf(ledger);
    expect(entry?.callers).toBeGreaterThan(180);
    expect(entry?.callers).toBeLessThan(220);
    expect(JSON.stringify(entry)).not.toContain('user-1');
  });

  it('does not count a caller for background work', async () => {
    const ledger = ledgerWith();
    ledger.record(finished([responseViolation()], { caller: 'alice' }));
    ledger.record(finished([responseViolation()], { caller: 'bob', background: true }));
    expect(await entriesOf(ledger)).toMatchObject([{ count: 2, callers: 1 }]);
  });

  it('counts the caller of a request that was compared, but not its exchange with the upstream again', async () => {
    const ledger = ledgerWith();
    const request = finished([], {
      caller: 'alice',
      upstream: { status: 200, shape: 'answer', seconds: 1, attempts: 1 },
    });
    ledger.record(request);
    ledger.record(comparisonTrace(request, [responseViolation()]));
    ledger.record(comparisonTrace({ ...request, caller: 'bob' }, [responseViolation()]));
    expect(await entriesOf(ledger)).toMatchObject([{ count: 2, callers: 2, status: 200 }]);
    const { traffic, statistics } = await ledger.snapshot();
    expect(traffic.map(({ requests }) => requests)).toEqual([1]);
    expect(statistics.map(({ counts }) => counts)).toEqual([expect.objectContaining({ 'status 200': 1 })]);
  });

  it('evicts the least recently seen entries at its limit and counts them as dropped', async () => {
    const ledger = ledgerWith({ maxEntries: 4 });
    for (const [index, keyword] of ['a', 'b', 'a', 'c'].entries())
      ledger.record(finished([responseViolation({ keyword })], { startedAt: NOW + index }));
    expect((await entriesOf(ledger)).map((entry) => entry.keyword)).toEqual(['c', 'a']);
    expect([ledger.size(), ledger.dropped()]).toEqual([2, 1]);
    expect((await ledger.snapshot()).dropped).toBe(1);
  });

  it('does not lose violations of responses when callers invent parameter names', async () => {
    const ledger = ledgerWith({ maxEntries: 10 });
    ledger.record(finished([responseViolation()]));
    for (let index = 0; index < 3_000; index++) ledger.record(finished([requestViolation(`name${index}b`)]));
    const entries = await entriesOf(ledger);
    expect(entries.filter((entry) => entry.direction === 'response')).toHaveLength(1);
    expect(entries).toHaveLength(6);
    expect(ledger.dropped()).toBe(3_000 - 5);
  });

  // Places, names and descriptions come from requests. Without a limit, a client that sends new ones with every request
  // could exhaust memory.
  it.each([
    ['places', (text: string) => finished([requestViolation(text)])],
    ['callers', (text: string) => finished([responseViolation()], { caller: text })],
    ['descriptions', (text: string) => finished([responseViolation({ found: text })])],
  ])('does not grow with the number of distinct %s', async (_what, traceOf) => {
    const ledger = ledgerWith({ maxEntries: 10 });
    const held = await heldMemory(async () => {
      for (let index = 0; index < 15_000; index++) {
        ledger.record(traceOf(flatText(index)));
        if (index % 1_000 === 0) await ledger.flush();
      }
      await ledger.flush();
    });
    // Storing all of these violations would take 13 MB.
    expect(held).toBeLessThan(8_000_000);
    expect(await entriesOf(ledger)).not.toEqual([]);
  });

  it.each(['alice@example.org', 'sk_live_4eC39HqLyjWDarjtT1zdp7dc', '/list/0/aB3xK9pQ7mZ2wL5v'])(
    'stores no text that a caller may have made up: %s',
    async (at) => {
      const ledger = ledgerWith();
      const message = `unknown parameter ${at}`;
      ledger.record(finished([{ ...requestViolation(at), message, found: `the text ${at}`, suggestion: at }]));
      expect(await entriesOf(ledger)).toHaveLength(1);
      expect(JSON.stringify(await entriesOf(ledger))).not.toContain(at.split('/').at(-1));
    },
  );

  it('does not quote a name that contains blanks', async () => {
    const ledger = ledgerWith();
    ledger.record(finished([{ ...requestViolation('a b'), message: 'a b is not known' }]));
    expect(await entriesOf(ledger)).toMatchObject([{ at: '?', message: 'violates the rule type' }]);
  });

  it('removes indices from messages', async () => {
    const ledger = ledgerWith();
    ledger.record(finished([responseViolation({ message: '/list/3/id must be an integer' })]));
    expect((await entriesOf(ledger))[0]?.message).toBe('/list/*/id must be an integer');
  });

  it('returns copies', async () => {
    const ledger = ledgerWith();
    ledger.record(finished([responseViolation()]));
    for (const entry of await entriesOf(ledger)) (entry.samples as unknown[]).push('planted');
    expect((await entriesOf(ledger))[0]?.samples).not.toContain('planted');
  });
});

/** Records requests at the given times, and returns the hours written to the store with their request counts. */
async function hoursWritten(times: readonly number[]): Promise<readonly (readonly [hour: number, requests: number])[]> {
  const opened = memoryStore();
  const written: (readonly [number, number])[] = [];
  const store: LedgerStore = {
    ...opened.store,
    write: (batch) => {
      written.push(...batch.traffic.map(({ hour, requests }) => [hour - NOW / HOUR, requests] as const));
      return opened.store.write(batch);
    },
  };
  const ledger = ledgerWith({ inMemory: { ...opened, store } });
  for (const startedAt of times) ledger.record(finished([], { startedAt }));
  await ledger.flush();
  return written;
}

describe('hourly traffic counts', () => {
  it('are separate for each hour, even after the clock was set back', async () => {
    expect(await hoursWritten([NOW, NOW + HOUR, NOW + 1, NOW - 1])).toEqual([
      [0, 2],
      [1, 1],
      [-1, 1],
    ]);
  });

  it('are merged into 48 hours while they wait to be written, without losing requests', async () => {
    const hours = await hoursWritten(Array.from({ length: 100 }, (_, hour) => NOW + hour * HOUR));
    expect(hours).toHaveLength(48);
    expect(hours.reduce((sum, [, requests]) => sum + requests, 0)).toBe(100);
  });
});

describe('a ledger with a failing store', () => {
  it('counts what is lost, reports the outage once, and stores the count when the store works again', async () => {
    const opened = memoryStore();
    let broken = true;
    const store: LedgerStore = {
      ...opened.store,
      write: (batch) => (broken ? Promise.reject(new Error('disk full')) : opened.store.write(batch)),
    };
    const reported: unknown[] = [];
    const ledger = ledgerWith({
      openStore: () => Promise.resolve({ ...opened, store }),
      onLost: (error) => reported.push(error),
    });
    await ledger.open();
    for (let time = 0; time < 2; time++) {
      ledger.record(finished([responseViolation()]));
      await ledger.flush();
    }
    // Each attempt loses one violation and one traffic row.
    expect([ledger.dropped(), reported.length]).toEqual([4, 1]);
    broken = false;
    ledger.record(finished([responseViolation()]));
    expect(await ledger.snapshot()).toMatchObject({ dropped: 4, entries: [{ count: 1 }] });
    expect(ledger.dropped()).toBe(4);
  });

  it('writes what it has recorded before it closes the store', async () => {
    const opened = memoryStore();
    const events: string[] = [];
    const store: LedgerStore = {
      ...opened.store,
      write: (batch) => {
        events.push(`wrote ${batch.entries.length}`);
        return opened.store.write(batch);
      },
      close: async () => void events.push('closed'),
    };
    const ledger = ledgerWith({ openStore: () => Promise.resolve({ ...opened, isLasting: true, store }) });
    await ledger.open();
    ledger.record(finished([responseViolation()]));
    await ledger.close();
    await ledger.close();
    expect(events).toEqual(['wrote 1', 'closed']);
  });

  it('counts violations while they are being written, and while they cannot be', async () => {
    const opened = memoryStore();
    let isAway = false;
    const write: LedgerStore['write'] = async (batch) => {
      await Promise.resolve();
      if (isAway) throw new LedgerUnavailable('away');
      return opened.store.write(batch);
    };
    const ledger = ledgerWith({ inMemory: { ...opened, store: { ...opened.store, write } } });
    ledger.record(finished([responseViolation()]));
    const written = ledger.flush();
    expect(ledger.size()).toBe(1);
    ledger.record(finished([responseViolation()]));
    expect(ledger.size()).toBe(1);
    await written;
    expect(ledger.size()).toBe(1);
    isAway = true;
    ledger.record(finished([responseViolation({ at: '/other' })]));
    await ledger.flush();
    expect(ledger.size()).toBe(2);
    isAway = false;
    await ledger.flush();
    expect(ledger.size()).toBe(2);
  });

  // A short run would otherwise start the thread of the database only to end it.
  it('writes nothing to a store that is lost when it is closed', async () => {
    const opened = memoryStore();
    const events: string[] = [];
    const store: LedgerStore = {
      ...opened.store,
      write: (batch) => {
        events.push('wrote');
        return opened.store.write(batch);
      },
      close: async () => void events.push('closed'),
    };
    const ledger = ledgerWith({ inMemory: { ...opened, store } });
    ledger.record(finished([responseViolation()]));
    await ledger.close();
    expect(events).toEqual(['closed']);
  });

  it('writes the batch that failed and everything recorded since then, as soon as the store can be reached', async () => {
    const opened = memoryStore();
    let isAway = true;
    const write: LedgerStore['write'] = (batch) =>
      isAway ? Promise.reject(new LedgerUnavailable('away')) : opened.store.write(batch);
    const ledger = ledgerWith({ inMemory: { ...opened, store: { ...opened.store, write } } });
    ledger.record(finished([responseViolation()]));
    await ledger.flush();
    isAway = false;
    ledger.record(finished([responseViolation()]));
    await ledger.flush();
    expect(await opened.store.read({}, NOW)).toMatchObject({ dropped: 0, entries: [{ count: 2 }] });
  });

  it('does not queue batches for a slow store', async () => {
    const opened = memoryStore();
    const waiting: (() => void)[] = [];
    const slow: LedgerStore = {
      ...opened.store,
      write: async (batch) => {
        await new Promise<void>((done) => {
          waiting.push(done);
        });
        return opened.store.write(batch);
      },
    };
    const ledger = ledgerWith({ inMemory: { ...opened, store: slow } });
    ledger.record(finished([responseViolation()]));
    const flushes = [ledger.flush()];
    for (let index = 0; index < 100; index++) {
      ledger.record(finished([responseViolation()]));
      flushes.push(ledger.flush());
    }
    expect(waiting).toHaveLength(1);
    waiting[0]?.();
    await until(() => waiting.length === 2);
    waiting[1]?.();
    await Promise.all(flushes);
    expect(waiting).toHaveLength(2);
    expect((await entriesOf(ledger))[0]?.count).toBe(101);
  });
});
