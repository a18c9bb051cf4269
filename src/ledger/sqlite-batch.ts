import type { DatabaseSync } from 'node:sqlite';
import { DISTINCT_BYTES, markDistinct } from '../lib/distinct-count.ts';
import { CHECK_NAMES } from '../model/checks.ts';
import type { LedgerSample } from '../model/ledger-entry.ts';
import { type EntryDelta, type LedgerBatch, MAX_SAMPLES, type TrafficDelta } from './ledger-batch.ts';

const OUTCOMES = ['passed', 'reported', 'refused'] as const;

/** Prepares the statements that add a batch to the tables; to be run inside a transaction. */
export function prepareBatch(database: DatabaseSync): (batch: LedgerBatch) => void {
  const release = database.prepare(
    `INSERT INTO releases (label, last_seen_at) VALUES (?, ?)
     ON CONFLICT (label) DO UPDATE SET last_seen_at = max(last_seen_at, excluded.last_seen_at) RETURNING id`,
  );
  const entry = database.prepare(
    `INSERT INTO entries (fingerprint, direction, operation, facts, first_seen_at, last_seen_at, callers, samples)
     VALUES (?, ?, ?, ?, ?, ?, zeroblob(${DISTINCT_BYTES}), '[]')
     ON CONFLICT (fingerprint) DO UPDATE SET facts = excluded.facts,
       first_seen_at = min(first_seen_at, excluded.first_seen_at), last_seen_at = max(last_seen_at, excluded.last_seen_at)
     RETURNING id, callers, samples`,
  );
  const merge = database.prepare('UPDATE entries SET callers = ?, samples = ? WHERE id = ?');
  const hour = database.prepare(
    `INSERT INTO entry_hours (entry, release, hour, count) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET count = count + excluded.count`,
  );
  const traffic = database.prepare(
    `INSERT INTO traffic (operation, release, hour, name, count) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET count = count + excluded.count`,
  );
  const dropped = database.prepare(`UPDATE meta SET value = value + ? WHERE name = 'dropped'`);

  const addEntry = (releaseId: number, { facts, firstSeenAt, lastSeenAt, hours, callers, samples }: EntryDelta) => {
    const { fingerprint, direction, operation } = facts;
    const kept = entry.get(fingerprint, direction, operation ?? null, JSON.stringify(facts), firstSeenAt, lastSeenAt);
    const id = Number(kept?.['id']);
    const bitmap = Uint8Array.from(kept?.['callers'] as Uint8Array);
    markDistinct(bitmap, callers);
    const before = JSON.parse(String(kept?.['samples'])) as LedgerSample[];
    merge.run(bitmap, JSON.stringify([...before, ...samples].slice(-MAX_SAMPLES)), id);
    for (const [at, count] of hours) hour.run(id, releaseId, at, count);
  };
  const addTraffic = (releaseId: number, { operation = '', hour: at, requests, checks }: TrafficDelta) => {
    if (requests > 0) traffic.run(operation, releaseId, at, 'requests', requests);
    for (const name of CHECK_NAMES)
      for (const outcome of OUTCOMES) {
        const count = checks[name]?.[outcome] ?? 0;
        if (count > 0) traffic.run(operation, releaseId, at, `${name} ${outcome}`, count);
      }
  };
  return (batch) => {
    const releaseId = Number(release.get(batch.release, batch.writtenAt)?.['id']);
    for (const delta of batch.entries) addEntry(releaseId, delta);
    for (const delta of batch.traffic) addTraffic(releaseId, delta);
    if (batch.dropped > 0) dropped.run(batch.dropped);
  };
}
