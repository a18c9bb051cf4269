import { hourOf } from '../../../lib/clock.ts';
import type { DatabaseSync } from 'node:sqlite';
import { estimateDistinct } from '../../../lib/distinct-count.ts';
import {
  type EntryHistory,
  HISTORY_HOURS,
  type LedgerEntry,
  type LedgerSample,
  type LedgerQuery,
  type LedgerSnapshot,
  type OperationTraffic,
} from '../../../model/ledger-entry.ts';
import { checksOf, operationOf, type EntryFacts } from '../../ledger-store.ts';
import { inTransaction } from './ledger-database.ts';

/** Reads the data that matches a query from a ledger file. All data is read in one transaction, so it is consistent. */
export function readSnapshot(database: DatabaseSync, query: LedgerQuery, takenAt: number): LedgerSnapshot {
  const { since } = query;
  const period = { since: since === undefined ? 0 : hourOf(since), release: query.release };
  const historyOf = () => (query.history === true ? readHistory(database, hourOf(takenAt)) : undefined);
  const wanted = (id: string | undefined) => query.operation === undefined || id === operationOf(query.operation);
  return inTransaction(
    database,
    () => ({
      takenAt,
      since,
      releases: readReleases(database, period),
      entries: readEntries(database, period, historyOf()).filter(({ operation }) => wanted(operation)),
      traffic: readTraffic(database, period).filter(({ operation }) => wanted(operation)),
      dropped: Number(database.prepare(`SELECT value FROM meta WHERE name = 'dropped'`).get()?.['value'] ?? 0),
    }),
    'DEFERRED',
  );
}

interface Period {
  /** Hours since the epoch. */
  readonly since: number;
  readonly release: string | undefined;
}

const IN_PERIOD = 'hour >= :since AND (:release IS NULL OR label = :release)';
const bound = ({ since, release }: Period) => ({ since, release: release ?? null });

function readReleases(database: DatabaseSync, { since }: Period): string[] {
  const rows = database
    .prepare(
      `SELECT label FROM releases WHERE
         EXISTS (SELECT 1 FROM traffic WHERE release = releases.id AND hour >= :since) OR
         EXISTS (SELECT 1 FROM entry_hours WHERE release = releases.id AND hour >= :since)
       ORDER BY last_seen_at, id`,
    )
    .all({ since });
  return rows.map((row) => String(row['label']));
}

/** Returns the history of every entry, keyed by the entry's row id. `hour` is the current hour. */
function readHistory(database: DatabaseSync, hour: number): ReadonlyMap<number, EntryHistory> {
  const firsts = database
    .prepare(
      `SELECT entry, label FROM
         (SELECT entry, release, row_number() OVER (PARTITION BY entry ORDER BY hour, release) AS place FROM entry_hours)
       JOIN releases ON releases.id = release WHERE place = 1`,
    )
    .all();
  const counts = database
    .prepare('SELECT entry, hour, sum(count) AS count FROM entry_hours WHERE hour > :before GROUP BY entry, hour')
    .all({ before: hour - HISTORY_HOURS });
  const recent = Map.groupBy(counts, (row) => Number(row['entry']));
  return new Map(
    firsts.map(({ entry, label }) => {
      const hours = Array.from({ length: HISTORY_HOURS }, () => 0);
      for (const row of recent.get(Number(entry)) ?? []) {
        const place = Number(row['hour']) - hour + HISTORY_HOURS - 1;
        if (place < HISTORY_HOURS) hours[place] = Number(row['count']);
      }
      return [Number(entry), { hours, firstRelease: String(label) }];
    }),
  );
}

function readEntries(
  database: DatabaseSync,
  period: Period,
  history: ReadonlyMap<number, EntryHistory> | undefined,
): LedgerEntry[] {
  const sums = new Map<number, Record<string, number>>();
  const counted = database.prepare(
    `SELECT entry, label, sum(count) AS count FROM entry_hours JOIN releases ON releases.id = release
     WHERE ${IN_PERIOD} GROUP BY entry, release`,
  );
  for (const { entry, label, count } of counted.all(bound(period))) {
    const known = sums.get(Number(entry)) ?? {};
    sums.set(Number(entry), Object.assign(known, { [String(label)]: Number(count) }));
  }
  const rows = database.prepare('SELECT * FROM entries ORDER BY last_seen_at DESC, id DESC').all();
  return rows.flatMap((row) => {
    const id = Number(row['id']);
    const releases = sums.get(id);
    const known = history?.get(id);
    return releases === undefined ? [] : [{ ...toEntry(row, releases), ...(known && { history: known }) }];
  });
}

function toEntry(row: Record<string, unknown>, releases: Record<string, number>): LedgerEntry {
  const facts = JSON.parse(String(row['facts'])) as EntryFacts;
  const samples = JSON.parse(String(row['samples'])) as (Partial<LedgerSample> & Omit<LedgerSample, 'found'>)[];
  return {
    ...facts,
    // JSON omits undefined fields.
    operation: facts.operation,
    status: facts.status,
    suggestion: facts.suggestion,
    count: Object.values(releases).reduce((sum, count) => sum + count, 0),
    firstSeenAt: Number(row['first_seen_at']),
    lastSeenAt: Number(row['last_seen_at']),
    callers: estimateDistinct(row['callers'] as Uint8Array),
    releases,
    samples: samples.map(({ requestId, seenAt, found }) => ({ requestId, seenAt, found })),
  };
}

function readTraffic(database: DatabaseSync, period: Period): OperationTraffic[] {
  const rows = database
    .prepare(
      `SELECT operation, label, name, sum(count) AS count FROM traffic JOIN releases ON releases.id = release
       WHERE ${IN_PERIOD} GROUP BY operation, release, name`,
    )
    .all(bound(period));
  const groups = Map.groupBy(rows, (row) => `${String(row['operation'])}\n${String(row['label'])}`);
  return [...groups.values()].map((group) => {
    const counts = new Map(group.map((row) => [String(row['name']), Number(row['count'])]));
    const [{ operation = '', label = '' } = {}] = group;
    return {
      operation: operation === '' ? undefined : String(operation),
      release: String(label),
      requests: counts.get('requests') ?? 0,
      checks: checksOf((name, outcome) => counts.get(`${name} ${outcome}`) ?? 0),
    };
  });
}
