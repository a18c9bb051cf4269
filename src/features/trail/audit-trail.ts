import { HOUR_MS } from '../../lib/clock.ts';
import type { ActionDetails, ActionOrigin } from '../../engine/model/operator-action.ts';
import { type AuditEntry, formatAuditEntry } from './audit-entry.ts';
import { appendToTrail, MAX_TRAIL_BYTES, SHOWN_ENTRIES, type TrailFiles } from './audit-file.ts';

/** The record of all changes that operators make on the admin side. */
export interface AuditTrail {
  /** Adds an entry, and writes it to the file in the background. Resolves to false if it could not be written. */
  record(entry: AuditEntry): Promise<boolean>;
  /** Returns the latest entries of all gateways, oldest first. */
  entries(): Promise<readonly AuditEntry[]>;
  /** Waits until all entries are written. */
  close(): Promise<void>;
}

/** An audit trail whose entries can be replaced with those of all gateways. */
export interface OwnAuditTrail extends AuditTrail {
  /** Returns the latest entries that are known to this gateway, oldest first. */
  latest(): readonly AuditEntry[];
  adopt(entries: readonly AuditEntry[]): void;
}

interface AuditTrailParts {
  /** The latest stored entries, oldest first. */
  readonly stored: readonly AuditEntry[];
  /** Undefined if the trail is stored in memory only. */
  readonly files: TrailFiles | undefined;
  /** Called for each entry so that it can be logged or shared. */
  readonly onEntry: (entry: AuditEntry) => void;
  /** Called for each failed write. */
  readonly onError: (error: unknown) => void;
  readonly maxBytes?: number;
}

/**
 * The number of refusals by the same kind of actor that are recorded in an hour. Without this limit, somebody without a
 * token could push all other entries out of the trail.
 */
export const REFUSALS_PER_HOUR = 60;

/** The longest reason, in characters. */
const MAX_REASON = 500;
/** The longest list in an entry, such as the purged tags, and the longest text in it. */
const MAX_ITEMS = 50;
const MAX_TEXT = 500;

/** Bounds the size of an entry. */
function shortened(entry: AuditEntry): AuditEntry {
  const { reason, subject, before, after } = entry;
  return {
    ...entry,
    ...(reason !== undefined && { reason: shortText(reason, MAX_REASON) }),
    ...(subject && { subject: shortDetails(subject) }),
    ...(before && { before: shortDetails(before) }),
    ...(after && { after: shortDetails(after) }),
  };
}

const shortText = (text: string, max: number) => (text.length > max ? `${text.slice(0, max - 1)}…` : text);

function shortDetails(details: ActionDetails): ActionDetails {
  return Object.fromEntries(
    Object.entries(details).flatMap(([name, value]): [string, unknown][] => {
      if (typeof value === 'string') return [[name, shortText(value, MAX_TEXT)]];
      if (!Array.isArray(value)) return [[name, value]];
      const items = value.slice(0, MAX_ITEMS).map((item) => shortText(String(item), MAX_TEXT));
      return [[name, value.length > MAX_ITEMS ? [...items, `and ${value.length - MAX_ITEMS} more`] : items]];
    }),
  );
}

/** Creates the audit trail. */
export function createAuditTrail(parts: AuditTrailParts): OwnAuditTrail {
  const { stored, files, onEntry, onError, maxBytes = MAX_TRAIL_BYTES } = parts;
  const refusals = new Map<ActionOrigin['actor'], { startedAt: number; recorded: number; omitted: number }>();
  let entries = stored;
  let writing = Promise.resolve(true);

  /** Returns the entry to record, or undefined if there were too many refusals. */
  const bounded = (entry: AuditEntry): AuditEntry | undefined => {
    if (entry.outcome !== 'refused') return entry;
    const before = refusals.get(entry.actor) ?? { startedAt: entry.at, recorded: 0, omitted: 0 };
    const isOver = entry.at - before.startedAt >= HOUR_MS || entry.at < before.startedAt;
    const window = isOver ? { startedAt: entry.at, recorded: 0, omitted: before.omitted } : before;
    refusals.set(entry.actor, window);
    if (window.recorded >= REFUSALS_PER_HOUR) {
      window.omitted += 1;
      return undefined;
    }
    window.recorded += 1;
    const { omitted } = window;
    window.omitted = 0;
    return omitted === 0 ? entry : { ...entry, omitted };
  };
  return {
    record(given) {
      const entry = bounded(shortened(given));
      if (entry === undefined) return writing;
      entries = [...entries, entry].slice(-SHOWN_ENTRIES);
      onEntry(entry);
      if (files !== undefined)
        writing = writing.then(async () => {
          try {
            await appendToTrail(files, formatAuditEntry(entry), maxBytes);
            return true;
          } catch (error) {
            onError(error);
            return false;
          }
        });
      return writing;
    },
    latest: () => entries,
    entries: () => Promise.resolve(entries),
    async close() {
      await writing;
    },
    adopt(next) {
      entries = next.slice(-SHOWN_ENTRIES);
    },
  };
}
