import { afterEach, describe, expect, it } from 'vitest';
import type { LedgerStore, StoreLimits } from '../../src/features/ledger/ledger-store.ts';
import type { EntryDelta, TrafficDelta } from '../../src/features/ledger/ledger-batch.ts';
import { JUDGED_NAMES } from '../../src/engine/model/checks.ts';
import { STORED_RELEASES } from '../../src/engine/model/release-statistics.ts';
import { batch, NOW } from '../builders/ledger.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const hourAt = (instant: number) => Math.floor(instant / HOUR);

interface Given {
  readonly fingerprint?: string;
  readonly direction?: 'request' | 'response';
  readonly operation?: string | undefined;
  readonly keyword?: string;
  readonly category?: EntryDelta['facts']['category'];
  readonly at?: number;
  readonly count?: number;
  readonly callers?: readonly number[];
  readonly samples?: EntryDelta['samples'];
}

const entry = ({ at = NOW, ...given }: Given = {}): EntryDelta => ({
  facts: {
    fingerprint: given.fingerprint ?? 'a000000000000001',
    operation: 'operation' in given ? given.operation : 'listQuestions',
    status: given.direction === 'request' ? undefined : 200,
    check: 'responses',
    direction: given.direction ?? 'response',
    category: given.category ?? 'type',
    location: 'body',
    keyword: given.keyword ?? 'type',
    schemaPath: '#/type',
    at: '/list/*/id',
    message: '/list/*/id must be integer',
    suggestion: undefined,
  },
  firstSeenAt: at,
  lastSeenAt: at,
  hours: [[hourAt(at), given.count ?? 1]],
  callers: given.callers ?? [7],
  samples: given.samples ?? [{ requestId: 'r1', seenAt: at, found: undefined }],
});

const traffic = (requests: number, more: Partial<TrafficDelta> = {}): TrafficDelta => ({
  operation: 'listQuestions',
  hour: hourAt(NOW),
  requests,
  checks: {},
  ...more,
});

const read = (store: LedgerStore, query = {}) => store.read(query, NOW);
const samplesOf = (...ids: string[]) => ids.map((requestId) => ({ requestId, seenAt: NOW, found: 'a number' }));

/** Defines the tests that every ledger store must pass. A shared store must also pass `sharedLedgerContract`. */
export function ledgerStoreContract(
  name: string,
  open: (limits: StoreLimits) => LedgerStore | Promise<LedgerStore>,
): void {
  const opened: LedgerStore[] = [];
  const storeWith = async (limits: Partial<StoreLimits> = {}): Promise<LedgerStore> => {
    const store = await open({ maxEntries: 100, retentionDays: 30, ...limits });
    opened.push(store);
    return store;
  };
  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close();
  });

  describe(`${name} as a ledger store`, () => {
    it('is empty at first', async () => {
      expect(await read(await storeWith())).toMatchObject({
        takenAt: NOW,
        since: undefined,
        releases: [],
        entries: [],
        traffic: [],
        dropped: 0,
      });
    });

    it('adds up the statistics of each release, regardless of the period and the release in the query', async () => {
      const store = await storeWith();
      const given = (counts: Record<string, number>) => [{ operation: 'listIdeas', counts }];
      await store.write(batch({ release: '1.0', statistics: given({ 'status 200': 2, 'field /list/*/x': 1 }) }));
      await store.write(batch({ release: '1.0', statistics: given({ 'status 200': 3 }) }));
      await store.write(batch({ release: '1.1', writtenAt: NOW + 1, statistics: given({ 'ms 7': 1 }) }));
      const statistics = [
        { operation: 'listIdeas', release: '1.0', counts: { 'status 200': 5, 'field /list/*/x': 1 } },
        { operation: 'listIdeas', release: '1.1', counts: { 'ms 7': 1 } },
      ];
      expect((await read(store)).statistics).toEqual(statistics);
      expect((await read(store, { since: NOW + DAY, release: '1.1' })).statistics).toEqual(statistics);
      expect((await read(store, { operation: 'listQuestions' })).statistics).toEqual([]);
    });

    it('keeps the statistics of the last releases only', async () => {
      const store = await storeWith();
      const statistics = [{ operation: 'listIdeas', counts: { 'status 200': 1 } }];
      for (let number = 0; number < STORED_RELEASES + 2; number += 1)
        await store.write(batch({ release: `1.${number}`, writtenAt: NOW + number, statistics }));
      const labels = (await read(store)).statistics.map(({ release }) => release);
      expect(labels).toEqual(Array.from({ length: STORED_RELEASES }, (_, index) => `1.${index + 2}`));
    });

    it('adds up the occurrences of the same violation', async () => {
      const store = await storeWith();
      await store.write(batch({ entries: [entry({ count: 2, callers: [1, 2], samples: samplesOf('a', 'b', 'c') })] }));
      const later = entry({ at: NOW + HOUR, count: 3, callers: [2, 3], samples: samplesOf('d', 'e', 'f') });
      expect(await store.write(batch({ release: 'two', entries: [later] }))).toMatchObject({ entries: 1, dropped: 0 });
      const { entries } = await read(store);
      expect(entries).toEqual([
        {
          ...entry().facts,
          count: 5,
          firstSeenAt: NOW,
          lastSeenAt: NOW + HOUR,
          callers: 3,
          releases: { one: 2, two: 3 },
          samples: samplesOf('b', 'c', 'd', 'e', 'f'),
        },
      ]);
    });

    it('returns the counts of the last 24 hours and the first release, if they are requested', async () => {
      const store = await storeWith();
      await store.write(batch({ entries: [entry({ at: NOW - 30 * HOUR, count: 9 })] }));
      await store.write(batch({ release: 'two', entries: [entry({ at: NOW - 23 * HOUR, count: 4 })] }));
      await store.write(batch({ release: 'three', entries: [entry({ at: NOW, count: 2 })] }));
      const { entries } = await read(store, { history: true });
      const hours = [4, ...Array.from({ length: 22 }, () => 0), 2];
      expect(entries.map(({ history }) => history)).toEqual([{ hours, firstRelease: 'one' }]);
      expect((await read(store)).entries[0]).not.toHaveProperty('history');
    });

    // An earlier version used the `undocumented` category for undocumented paths and parameters.
    it('continues an entry of an earlier version, with the latest category', async () => {
      const store = await storeWith();
      await store.write(batch({ entries: [entry({ category: 'undocumented' })] }));
      expect((await read(store)).entries).toMatchObject([{ category: 'undocumented', count: 1 }]);
      await store.write(batch({ entries: [entry({ category: 'not-allowed' })] }));
      expect((await read(store)).entries).toMatchObject([{ category: 'not-allowed', count: 2 }]);
    });

    it('adds up traffic and check outcomes, including requests outside the contract', async () => {
      const store = await storeWith();
      const passed = { passed: 2, reported: 1, refused: 0 };
      await store.write(
        batch({ traffic: [traffic(3, { checks: { requests: passed } }), traffic(1, { operation: undefined })] }),
      );
      await store.write(
        batch({
          traffic: [traffic(2, { checks: { requests: passed, undocumented: { passed: 0, reported: 0, refused: 4 } } })],
        }),
      );
      const rows = (await read(store)).traffic;
      expect(rows).toHaveLength(2);
      expect(rows).toContainEqual({ operation: undefined, release: 'one', requests: 1, checks: {} });
      expect(rows).toContainEqual({
        operation: 'listQuestions',
        release: 'one',
        requests: 5,
        checks: {
          requests: { passed: 4, reported: 2, refused: 0 },
          undocumented: { passed: 0, reported: 0, refused: 4 },
        },
      });
    });

    it.each(JUDGED_NAMES)('stores violations and each outcome of %s', async (judged) => {
      const store = await storeWith();
      const checks = { [judged]: { passed: 1, reported: 2, refused: 3 } };
      const found = entry();
      const entries = [{ ...found, facts: { ...found.facts, check: judged } }];
      await store.write(batch({ entries, traffic: [traffic(6, { checks })] }));
      const stored = await read(store);
      expect(stored.entries).toMatchObject([{ check: judged }]);
      expect(stored.traffic).toMatchObject([{ requests: 6, checks }]);
    });

    // This order keeps a client that makes up parameter names from pushing other violations out of the store.
    it('evicts invented names first when it is full of them, even if other entries are older', async () => {
      const store = await storeWith({ maxEntries: 20 });
      const old = ['missing', 'format', 'enum'].map((keyword, index) =>
        entry({ fingerprint: keyword, direction: 'request', keyword, at: NOW + index }),
      );
      await store.write(batch({ entries: old }));
      for (let round = 1; round <= 5; round++) {
        const invented = Array.from({ length: 10 }, (_, index) =>
          entry({
            fingerprint: `f${round}-${index}`,
            direction: 'request',
            keyword: 'unknown',
            at: NOW + 10 * round + index,
          }),
        );
        await store.write(batch({ entries: invented }));
      }
      const left = (await read(store)).entries.map(({ fingerprint }) => fingerprint);
      const newest = Array.from({ length: 7 }, (_, index) => `f5-${9 - index}`);
      expect(left).toEqual([...newest, 'enum', 'format', 'missing']);
    });

    it('returns the most recently seen entries first', async () => {
      const store = await storeWith();
      await store.write(
        batch({
          entries: [
            entry({ fingerprint: 'b', at: NOW + 2 }),
            entry({ fingerprint: 'c', at: NOW + 1 }),
            entry({ fingerprint: 'd', at: NOW + 3 }),
          ],
        }),
      );
      expect((await read(store)).entries.map(({ fingerprint }) => fingerprint)).toEqual(['d', 'b', 'c']);
    });

    it('filters by hour, release and operation', async () => {
      const store = await storeWith();
      await store.write(
        batch({
          entries: [entry({ at: NOW - HOUR, count: 5 }), entry({ fingerprint: 'b', operation: undefined })],
          traffic: [traffic(9, { hour: hourAt(NOW - HOUR) })],
        }),
      );
      await store.write(
        batch({
          writtenAt: NOW + 1,
          release: 'two',
          entries: [entry({ at: NOW + 1, count: 2 })],
          traffic: [traffic(4), traffic(1, { operation: undefined })],
        }),
      );
      const counts = async (query: object) => {
        const { entries, traffic: rows } = await read(store, query);
        return [
          entries.map((one) => [one.fingerprint, one.count]),
          rows.map(({ requests }) => requests).sort((a, b) => b - a),
        ];
      };
      const [whole, undocumented] = ['a000000000000001', 'b'];
      // The results include the whole hour that contains the given instant.
      expect(await counts({ since: NOW + 1000 })).toEqual([
        [
          [whole, 2],
          [undocumented, 1],
        ],
        [4, 1],
      ]);
      expect((await read(store, { since: NOW + 1000 })).releases).toEqual(['one', 'two']);
      expect(await counts({ since: NOW + HOUR })).toEqual([[], []]);
      expect(await counts({ release: 'one' })).toEqual([
        expect.arrayContaining([
          [whole, 5],
          [undocumented, 1],
        ]),
        [9],
      ]);
      expect(await counts({ release: 'one', since: NOW })).toEqual([[[undocumented, 1]], []]);
      expect(await counts({ operation: 'undocumented' })).toEqual([[[undocumented, 1]], [1]]);
      expect(await counts({ operation: 'listQuestions', release: 'two' })).toEqual([[[whole, 2]], [4]]);
      expect((await read(store, { release: 'one' })).releases).toEqual(['one', 'two']);
    });

    it('lists the most recent release last', async () => {
      const store = await storeWith();
      for (const [index, release] of ['one', 'two', 'one'].entries())
        await store.write(batch({ writtenAt: NOW + index, release, traffic: [traffic(1)] }));
      expect((await read(store)).releases).toEqual(['two', 'one']);
    });

    it('reserves half of its entries for each direction and evicts the least recently seen ones', async () => {
      const store = await storeWith({ maxEntries: 4 });
      await store.write(batch({ entries: [entry({ fingerprint: 'answer' })] }));
      const many = Array.from({ length: 5 }, (_, index) =>
        entry({ fingerprint: `asked${index}`, direction: 'request', at: NOW + index }),
      );
      expect(await store.write(batch({ entries: many, dropped: 2 }))).toMatchObject({ entries: 3, dropped: 3 });
      const { entries, dropped } = await read(store);
      expect(entries.map(({ fingerprint }) => fingerprint)).toEqual(['asked4', 'asked3', 'answer']);
      expect(dropped).toBe(5);
    });

    it('removes what was not seen again within the retention period', async () => {
      const store = await storeWith({ retentionDays: 2 });
      const old = NOW - 3 * DAY;
      const oldTraffic = traffic(7, { hour: hourAt(old) });
      await store.write(
        batch({
          writtenAt: old,
          release: 'old',
          entries: [entry({ at: old }), entry({ fingerprint: 'b', at: old })],
          traffic: [oldTraffic],
        }),
      );
      expect((await read(store)).entries).toHaveLength(2);
      expect(await store.write(batch({ entries: [entry()], traffic: [traffic(1)] }))).toMatchObject({ entries: 1 });
      const { entries, traffic: rows, releases, dropped } = await read(store);
      expect(entries.map(({ fingerprint, count, firstSeenAt }) => [fingerprint, count, firstSeenAt])).toEqual([
        ['a000000000000001', 1, old],
      ]);
      expect([rows.map(({ requests }) => requests), releases, dropped]).toEqual([[1], ['one'], 0]);
    });

    it('stores text with quotes and line breaks unchanged', async () => {
      const store = await storeWith();
      const facts = { ...entry().facts, message: `it's "so"\n; DROP TABLE entries`, operation: `o'p` };
      await store.write(batch({ release: `r'1"`, entries: [{ ...entry(), facts }] }));
      expect((await read(store)).entries).toMatchObject([{ message: facts.message, releases: { [`r'1"`]: 1 } }]);
    });
  });
}
