import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { LedgerUnavailable } from '../../src/engine/model/ledger-entry.ts';
import type { LedgerStore, OpenedStore, StoreState } from '../../src/features/ledger/ledger-store.ts';
import type { LedgerBatch } from '../../src/features/ledger/ledger-batch.ts';
import type { Ledger } from '../../src/features/ledger/record/create-ledger.ts';
import type { LedgerWriter } from '../../src/features/ledger/store/select-store.ts';
import { batch, entryOf, finished, ledgerWith, NOW, trafficOf } from '../builders/ledger.ts';
import { responseViolation } from '../builders/response-violation.ts';

/** Opens a ledger as one of the processes that share it. */
type OpenLedger = (writer: Omit<LedgerWriter, 'redis'>) => Promise<OpenedStore>;

/** A server with an empty ledger for a single test, and functions that make it fail. */
interface FailingServer {
  readonly open: OpenLedger;
  /** Makes the server stop responding, without closing its connections. */
  freeze(): void;
  thaw(): void;
  stop(): Promise<void>;
  /** Restarts the server without its earlier data. */
  startEmpty(): Promise<void>;
}

const ignore = () => undefined;

/** Opens the ledger of one process and returns it. */
async function ledgerAs(
  open: OpenLedger,
  replica: string,
  { onDataLost = ignore, onLost }: { onDataLost?: () => void; onLost?: (error: unknown) => void } = {},
) {
  const ledger = ledgerWith({ openStore: () => open({ replica, onDataLost }), onLost });
  await ledger.open();
  return ledger;
}

/** Waits until this many requests have been stored. */
export async function untilRequests(ledger: Ledger, expected: number): Promise<void> {
  const snapshot = await ledger.snapshot().catch(() => undefined);
  const found = snapshot?.traffic.reduce((sum, row) => sum + row.requests, 0);
  if (found === expected) return;
  await wait(10);
  await untilRequests(ledger, expected);
}

/** Writes a batch, and retries while the store cannot be reached. */
async function writeOnceReachable(store: LedgerStore, one: LedgerBatch): Promise<StoreState> {
  try {
    return await store.write(one);
  } catch (error) {
    if (!(error instanceof LedgerUnavailable)) throw error;
    await wait(10);
    return writeOnceReachable(store, one);
  }
}

/**
 * Defines the tests that every shared store (`isShared`) must pass in addition to `ledgerStoreContract`. `newLedger`
 * creates an empty ledger on a server that does not fail, and `startServer` starts a server for a single test.
 */
export function sharedLedgerContract(
  name: string,
  newLedger: () => OpenLedger,
  startServer: () => Promise<FailingServer>,
): void {
  const storesOf = async (...replicas: readonly string[]) => {
    const open = newLedger();
    return Promise.all(replicas.map(async (replica) => (await open({ replica, onDataLost: ignore })).store));
  };

  describe(`${name} as a ledger that processes share`, () => {
    it('adds up the counts of all replicas, and reports each replica', async () => {
      const [a, b] = (await storesOf('a', 'b')) as [LedgerStore, LedgerStore];
      await a.write(batch({ entries: [entryOf('f1')], traffic: trafficOf(3) }));
      await b.write(
        batch({ writtenAt: NOW + 1, release: 'two', entries: [entryOf('f1'), entryOf('f2')], traffic: trafficOf(4) }),
      );
      const all = await a.read({}, NOW + 2);
      expect(all.entries.map(({ fingerprint, count }) => [fingerprint, count])).toContainEqual(['f1', 2]);
      expect(all.traffic.map(({ release, requests }) => [release, requests])).toEqual(
        expect.arrayContaining([
          ['one', 3],
          ['two', 4],
        ]),
      );
      expect(all.replicas).toEqual([
        { replica: 'b', release: 'two', lastSeenAt: NOW + 1, requests: 4, violations: 2 },
        { replica: 'a', release: 'one', lastSeenAt: NOW, requests: 3, violations: 1 },
      ]);
      const one = await b.read({ replica: 'a' }, NOW + 2);
      expect(one.entries.map(({ fingerprint, releases }) => [fingerprint, releases])).toEqual([['f1', { one: 1 }]]);
      expect(one.traffic).toEqual([{ operation: 'listIdeas', release: 'one', requests: 3, checks: {} }]);
    });

    it('counts a caller of several processes once', async () => {
      const open = newLedger();
      const ledgers = [await ledgerAs(open, 'a'), await ledgerAs(open, 'b')];
      const counted: (number | undefined)[] = [];
      for (const ledger of ledgers) {
        for (const caller of ['anna', 'bert', 'carl']) ledger.record(finished([responseViolation()], { caller }));
        await ledger.flush();
        counted.push((await ledger.snapshot()).entries[0]?.callers);
      }
      // The number of callers is an estimate: with some of the random keys, it is only 2.
      expect(counted[0]).toBeGreaterThanOrEqual(2);
      expect(counted[1]).toBe(counted[0]);
      expect((await ledgers[0]?.snapshot())?.entries).toMatchObject([{ count: 6 }]);
    });

    it('returns the fingerprints that other processes have stored', async () => {
      const open = newLedger();
      const { store } = await open({ replica: 'a', onDataLost: ignore });
      await store.write(batch({ entries: [entryOf('f1'), entryOf('f2')] }));
      const { fingerprints } = await open({ replica: 'b', onDataLost: ignore });
      expect([...fingerprints].toSorted()).toEqual(['f1', 'f2']);
    });

    // The reply to a batch is lost, so the process resends the batch. The first copy may still be in the buffer of a
    // broken connection, and may even arrive after a later batch.
    it('adds a batch once, however often it arrives', async () => {
      const [store] = (await storesOf('a')) as [LedgerStore];
      const [first, second] = [batch({ traffic: trafficOf(1) }), batch({ traffic: trafficOf(10) })];
      for (const one of [first, first, second, first]) await store.write(one);
      expect((await store.read({}, NOW)).traffic).toMatchObject([{ requests: 11 }]);
    });

    // Two gateways might have been given the same name by mistake. A batch from one must not look like a repeated batch
    // from the other.
    it('stores the batches of two processes with the same name', async () => {
      const open = newLedger();
      for (let index = 0; index < 2; index++) {
        const { store } = await open({ replica: 'a', onDataLost: ignore });
        await store.write(batch({ number: 1, traffic: trafficOf(1) }));
      }
      const { store } = await open({ replica: 'b', onDataLost: ignore });
      expect((await store.read({}, NOW)).traffic).toMatchObject([{ requests: 2 }]);
    });

    it('stores every batch of several processes that write at the same time', async () => {
      const all = await storesOf('a', 'b', 'c', 'd');
      await Promise.all(
        Array.from({ length: 100 }, async (_, index) =>
          all[index % 4]?.write(batch({ entries: [entryOf(`f${index % 7}`)], traffic: trafficOf(1) })),
        ),
      );
      const snapshot = await (all[0] as LedgerStore).read({}, NOW);
      expect(snapshot.traffic).toMatchObject([{ requests: 100 }]);
      expect(snapshot.entries.reduce((sum, { count }) => sum + count, 0)).toBe(100);
      expect(snapshot.replicas?.map(({ requests }) => requests)).toEqual([25, 25, 25, 25]);
    });
  });

  describe(`${name} as a shared ledger that fails`, () => {
    it('writes what was recorded while the store did not reply, once', async () => {
      const server = await startServer();
      const failures: unknown[] = [];
      const ledger = await ledgerAs(server.open, 'a', { onLost: (error) => void failures.push(error) });
      ledger.record(finished([responseViolation()]));
      await ledger.flush();
      server.freeze();
      ledger.record(finished([responseViolation()]));
      await ledger.flush();
      ledger.record(finished([responseViolation()]));
      expect(failures).toEqual([expect.any(LedgerUnavailable)]);
      await expect(ledger.snapshot()).rejects.toThrow(LedgerUnavailable);
      server.thaw();
      await untilRequests(ledger, 3);
      expect(await ledger.snapshot()).toMatchObject({ entries: [{ count: 3 }], dropped: 0 });
      expect(ledger.dropped()).toBe(0);
    });

    it('begins again after the store has lost its data, and reports it', async () => {
      const server = await startServer();
      const lost: string[] = [];
      const ledger = await ledgerAs(server.open, 'a', { onDataLost: () => void lost.push('data lost') });
      ledger.record(finished([responseViolation()], { caller: 'anna' }));
      await ledger.flush();
      await server.stop();
      ledger.record(finished([responseViolation()], { caller: 'anna' }));
      await ledger.flush();
      await server.startEmpty();
      await untilRequests(ledger, 1);
      expect(lost).toEqual(['data lost']);
      expect(await ledger.snapshot()).toMatchObject({ lostAt: NOW, entries: [{ count: 1, callers: 1 }] });
    });

    // A process that starts during an outage cannot read the key that the others use to hash callers. Its hashes cannot
    // be compared with theirs, so the same caller would be counted twice.
    it('is opened while the store does not reply, and counts callers once the process uses the shared key', async () => {
      const server = await startServer();
      const a = await server.open({ replica: 'a', onDataLost: ignore });
      await a.store.write(batch({ entries: [entryOf('f1', { callers: [1] })] }));
      server.freeze();
      const b = await server.open({ replica: 'b', onDataLost: ignore });
      server.thaw();
      expect(b.callerKey).not.toBe(a.callerKey);
      const state = await writeOnceReachable(b.store, batch({ entries: [entryOf('f1', { callers: [2, 3] })] }));
      expect(state).toMatchObject({ callerKey: a.callerKey });
      expect((await b.store.read({}, NOW)).entries).toMatchObject([{ count: 2, callers: 1 }]);
      await b.store.write(batch({ entries: [entryOf('f1', { callers: [2] })] }));
      expect((await b.store.read({}, NOW)).entries).toMatchObject([{ count: 3, callers: 2 }]);
    });
  });
}
