import type { Sharing } from '../../engine/sharing/sharing.ts';
import { type AuditEntry, formatAuditEntry, parseAuditEntry } from './audit-entry.ts';
import { SHOWN_ENTRIES } from './audit-file.ts';
import type { AuditTrail, OwnAuditTrail } from './audit-trail.ts';

/** The maximum number of entries in the trail that gateways share. */
const MAX_SHARED_ENTRIES = 10_000;

/** The time until entries are sent again, if the others could not be reached, in milliseconds. */
const RETRY_MS = 5_000;

/** Returns the audit trail of all gateways: this gateway's own trail, with the others' entries. */
export function shareTrail(
  own: OwnAuditTrail,
  sharing: Pick<Sharing, 'lines' | 'status'>,
  instance: string,
): AuditTrail {
  // Redis keeps the name that the trail had while it contained only overrides.
  const trail = sharing.lines('overrides-trail', MAX_SHARED_ENTRIES, SHOWN_ENTRIES);
  let retry: NodeJS.Timeout | undefined;
  const retryLater = () => {
    retry ??= setTimeout(() => {
      retry = undefined;
      void refresh();
    }, RETRY_MS).unref();
  };
  const refresh = async () => {
    const lines = await trail.read();
    if (lines === undefined) return retryLater();
    const found = lines.flatMap((line) => parseAuditEntry(line) ?? []);
    // Entries that Redis has lost are added again. If the trail contains as many entries as can be shown, older entries
    // have been dropped from it on purpose and are not added.
    const startsAt = found.length < SHOWN_ENTRIES ? 0 : (found[0]?.at ?? 0);
    const known = new Set(found.map(formatAuditEntry));
    const missing = own.latest().filter((entry) => entry.at > startsAt && !known.has(formatAuditEntry(entry)));
    for (const entry of missing) trail.add(formatAuditEntry(entry), entry.at);
    own.adopt([...found, ...missing].toSorted((a, b) => a.at - b.at));
    if (missing.length > 0 && (await trail.read()) === undefined) retryLater();
  };
  return {
    record(entry: AuditEntry) {
      // A gateway alone need not be named. Every gateway notices that an override has expired, so the entry is the same
      // for all of them.
      const isNamed = sharing.status() !== undefined && entry.actor !== 'portico';
      const shown = isNamed ? { ...entry, gateway: instance } : entry;
      const recorded = own.record(shown);
      void refresh();
      return recorded;
    },
    async entries() {
      await refresh();
      return own.latest();
    },
    async close() {
      clearTimeout(retry);
      await own.close();
    },
  };
}
