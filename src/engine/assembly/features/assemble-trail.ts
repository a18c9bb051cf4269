import type { Logger } from 'pino';
import type { Settings } from '../../config/settings.ts';
import { openSharedTrail } from '../../sharing/redis/shared-document.ts';
import {
  type AuditEntry,
  auditEntryJson,
  formatAuditEntry,
  parseAuditEntry,
} from '../../../features/trail/audit-entry.ts';
import { readTrailFiles, SHOWN_ENTRIES, trailFilesOf } from '../../../features/trail/audit-file.ts';
import { type AuditTrail, createAuditTrail } from '../../../features/trail/audit-trail.ts';
import type { SharedState } from '../sharing/shared-state.ts';

/** The maximum number of entries in the trail that gateways share. */
const MAX_SHARED_ENTRIES = 10_000;

/** The audit trail of a gateway, or of all gateways that share their state. */
export interface AssembledTrail extends AuditTrail {
  /** Reads the entries of the other gateways. */
  refresh(): Promise<void>;
}

/** The name of the trail in the log of changes. */
const DOCUMENT = 'audit-trail';

/** Creates the audit trail, and reads its stored entries. */
export function assembleTrail(
  settings: Pick<Settings, 'overrides'>,
  parts: { readonly logger: Logger; readonly shared: SharedState | undefined; readonly instance: string },
): AssembledTrail {
  const { logger, shared, instance } = parts;
  const files = trailFilesOf(settings.overrides.file);
  const own = createAuditTrail({
    stored: readTrailFiles(files),
    files,
    onEntry: (entry) => logEntry(logger, entry),
    onError: (error) => logger.error({ err: error }, 'an entry of the audit trail cannot be stored'),
  });
  if (shared === undefined) return { ...own, refresh: () => Promise.resolve() };

  // Redis keeps the name that the trail had while it contained only overrides.
  const trail = openSharedTrail(shared.redis, 'overrides-trail', MAX_SHARED_ENTRIES, SHOWN_ENTRIES);
  const refresh = async () => {
    const lines = await trail.read();
    if (lines === undefined) return;
    const found = lines.flatMap((line) => parseAuditEntry(line) ?? []);
    // Entries that Redis has lost are added again. If the trail contains as many entries as can be shown, older entries
    // have been dropped from it on purpose and are not added.
    const startsAt = found.length < SHOWN_ENTRIES ? 0 : (found[0]?.at ?? 0);
    const known = new Set(found.map(formatAuditEntry));
    const missing = own.latest().filter((entry) => entry.at > startsAt && !known.has(formatAuditEntry(entry)));
    for (const entry of missing) trail.add(formatAuditEntry(entry), entry.at);
    own.adopt([...found, ...missing].toSorted((a, b) => a.at - b.at));
    if (missing.length === 0 || (await trail.read()) === undefined) return;
    await shared.changes.append({ kind: 'reread', document: DOCUMENT });
  };
  shared.listen({
    apply(change, _number, isOwn) {
      if (change.kind === 'reread' && change.document === DOCUMENT && !isOwn) void refresh();
    },
    reset: () => void refresh(),
  });
  return {
    ...own,
    record(entry) {
      // Every gateway notices that an override has expired, so the entry is the same for all of them.
      const shown = entry.actor === 'portico' ? entry : { ...entry, gateway: instance };
      const recorded = own.record(shown);
      void refresh();
      return recorded;
    },
    async entries() {
      await refresh();
      return own.latest();
    },
    refresh,
  };
}

/** Logs an entry. Changes of overrides have messages of their own. */
function logEntry(logger: Logger, entry: AuditEntry): void {
  if (entry.action.startsWith('override ') && entry.outcome === 'done') return;
  const line = { audit: auditEntryJson(entry) };
  if (entry.outcome === 'done') logger.info(line, 'an operator made a change');
  else logger.warn(line, 'a change on the admin side was refused or failed');
}
