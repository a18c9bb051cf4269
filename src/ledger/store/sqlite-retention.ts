import { HOUR_MS, hourOf } from '../../lib/clock.ts';
import type { DatabaseSync } from 'node:sqlite';
import type { StoreLimits } from '../ledger-store.ts';
import { retentionStart } from '../ledger-store.ts';

/** Keeps a ledger file within its limits. All methods must run in a transaction. */
interface SqliteRoom {
  /** Removes everything that is older than the retention period. */
  forget(now: number): void;
  /**
   * Removes entries so that neither direction exceeds its limit. The rule with the most entries loses entries first,
   * starting with those seen least recently. Returns the number of entries removed.
   */
  evict(): number;
  /** Removes the oldest rows from a full file. Returns the number of rows removed, which is 0 if none are left. */
  makeRoom(): number;
  /** Returns the number of entries. */
  size(): number;
}

/** Prepares the statements that remove rows. */
export function prepareRoom(database: DatabaseSync, { maxEntries, retentionDays }: StoreLimits): SqliteRoom {
  const share = Math.max(1, Math.floor(maxEntries / 2));
  const count = database.prepare('SELECT count(*) AS count FROM entries WHERE direction = ?');
  const removeOldest = database.prepare(
    // The entries are ranked within their rule, so invented names displace only other invented names.
    `DELETE FROM entries WHERE id IN (
       SELECT id FROM (
         SELECT id, last_seen_at,
           row_number() OVER (PARTITION BY operation, facts ->> '$.keyword' ORDER BY last_seen_at DESC, id DESC) AS place
         FROM entries WHERE direction = ?
       ) ORDER BY place DESC, last_seen_at, id LIMIT ?)`,
  );
  const span = database.prepare(
    `SELECT min(hour) AS first, max(hour) AS last FROM (SELECT hour FROM entry_hours UNION ALL SELECT hour FROM traffic)`,
  );
  const forgetHours = database.prepare('DELETE FROM entry_hours WHERE hour < ?');
  const forgetTraffic = database.prepare('DELETE FROM traffic WHERE hour < ?');
  const forgetEntries = database.prepare('DELETE FROM entries WHERE last_seen_at < ?');
  const forgetReleases = database.prepare('DELETE FROM releases WHERE last_seen_at < ?');

  const countOf = (direction: string) => Number(count.get(direction)?.['count'] ?? 0);
  const remove = (direction: string, number: number): number =>
    number <= 0 ? 0 : Number(removeOldest.run(direction, number).changes);
  const dropHours = (before: number) =>
    Number(forgetHours.run(before).changes) + Number(forgetTraffic.run(before).changes);

  return {
    forget(now) {
      const before = retentionStart(now, retentionDays);
      forgetEntries.run(before);
      dropHours(hourOf(before));
      forgetReleases.run(before);
    },
    evict: () => remove('request', countOf('request') - share) + remove('response', countOf('response') - share),
    makeRoom() {
      const { first, last } = span.get() ?? {};
      // Old hours are removed first, because old counts matter less than violations.
      if (Number(first) < Number(last)) {
        const before = Number(first) + Math.ceil((Number(last) - Number(first)) / 4);
        return Number(forgetEntries.run(before * HOUR_MS).changes) + dropHours(before);
      }
      return (
        remove('request', Math.ceil(countOf('request') / 4)) + remove('response', Math.ceil(countOf('response') / 4))
      );
    },
    size: () => countOf('request') + countOf('response'),
  };
}
