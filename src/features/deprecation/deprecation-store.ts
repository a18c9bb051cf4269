import type { Logger } from 'pino';
import type { Settings } from '../../engine/config/settings.ts';
import { createStateWriter } from '../../engine/config/state-writer.ts';
import type { Sharing } from '../../engine/sharing/sharing.ts';
import { type Clock, DAY_MS } from '../../lib/clock.ts';
import { parseVersionedState } from '../../lib/state-file.ts';
import { type CallerTags, createCallerTags } from './caller-tags.ts';
import { type StoredDeprecation, writeDeprecationFile } from './deprecation-file.ts';
import {
  type BrownoutDecision,
  decisionJson,
  type Decisions,
  decisionsFrom,
  decisionsJson,
  mergeDecisions,
} from './revocations.ts';
import {
  bounded,
  keyOf,
  LOST_USAGE,
  mergeUsage,
  type Usage,
  usageFrom,
  usageJson,
  type UsageLimits,
  type UsageRow,
  withRows,
} from './usage.ts';

/** The counts and the decisions about brown-outs. They survive reloads, and are stored and shared. */
export interface DeprecationStore {
  readonly tags: CallerTags;
  /** Counts a request of a caller, in memory at first. `at` is its time, in epoch milliseconds. */
  count(row: Omit<UsageRow, 'count' | 'firstSeen' | 'lastSeen'>, at: number): void;
  /** Returns the counts of all gateways. What others have counted may be missing for a minute. */
  usage(): Usage;
  /** Returns whether a brown-out is revoked now. */
  isRevoked(brownout: string): boolean;
  /** Returns the latest decision about a brown-out, if there is one. */
  decisionOn(brownout: string): BrownoutDecision | undefined;
  /** Makes a decision. Resolves once it is stored or shared, or to false if it is in memory only. */
  decide(decision: BrownoutDecision): Promise<boolean>;
  /** Puts other limits into use. */
  configure(limits: UsageLimits): void;
  /** Checks that the state can be stored, and begins to share it. Does nothing if it has been called. */
  open(): Promise<void>;
  close(): Promise<void>;
}

interface StoreParts {
  readonly stored: StoredDeprecation;
  readonly file: string;
  readonly limits: UsageLimits;
  readonly settings: Pick<Settings, 'originOf' | 'placeOf'>;
  readonly sharing: Pick<Sharing, 'openDocument' | 'keyedHash' | 'status'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The JSON pointer to the key that names the file. */
export const POINTER = '/deprecation/file';

/**
 * The time between writes of the counts, in milliseconds. Gateways read a shared document again whenever another one
 * changes it, so they must not change it all the time.
 */
const PUBLISH_MS = 30_000;

/** How long a decision is remembered after the brown-out, for whoever looks at what happened. */
const REMEMBERED_MS = 30 * DAY_MS;

/** Creates the store. Nothing is written before it is opened, so that commands can create it, too. */
export function createDeprecationStore(parts: StoreParts): DeprecationStore {
  const { stored, file, settings, sharing, clock, logger } = parts;
  const tags = createCallerTags(stored.key, sharing);
  const pending = new Map<string, { -readonly [Key in keyof UsageRow]: UsageRow[Key] }>();
  let { limits } = parts;
  let { usage, decisions } = stored;
  let isOpen = false;

  const withPending = (): Usage => bounded(withRows(usage, pending), limits, clock());
  const publish = () => {
    const next = withPending();
    if (next !== usage) writer.changed();
    usage = next;
    pending.clear();
  };
  const writer = createStateWriter({
    settings,
    file,
    pointer: POINTER,
    logger,
    name: 'deprecation',
    what: 'the counts of deprecated usage',
    save: () => writeDeprecationFile(file, { key: stored.key, usage, decisions }),
  });
  const adoptDecisions = (next: Decisions) => {
    const changed = [...next.values()].filter(({ brownout, at }) => decisions.get(brownout)?.at !== at);
    for (const one of changed)
      logger.warn({ brownout: decisionJson(one) }, 'a brown-out was revoked or restored on another gateway');
    decisions = next;
    void writer.write();
  };

  const sharedUsage = sharing.openDocument<Usage>('deprecation', {
    current: () => usage,
    adopt(next) {
      usage = bounded(next, limits, clock());
      writer.changed();
    },
    merge: (base, mine, theirs) => bounded(mergeUsage(base, mine, theirs), limits, clock()),
    empty: () => LOST_USAGE,
    format: (value) => JSON.stringify({ version: 1, usage: usageJson(value) }),
    parse: (text) => usageFrom(parseVersionedState(text)['usage'], 'usage'),
  });
  const sharedDecisions = sharing.openDocument<Decisions>('brownouts', {
    current: () => decisions,
    adopt: adoptDecisions,
    merge: (_base, mine, theirs) => mergeDecisions(mine, theirs),
    empty: () => new Map(),
    format: (value) => JSON.stringify({ version: 1, decisions: decisionsJson(value) }),
    parse: (text) => decisionsFrom(parseVersionedState(text)['decisions'], 'decisions'),
  });

  let timer: NodeJS.Timeout | undefined;
  const publishAll = async () => {
    await tags.read();
    publish();
    await Promise.all([writer.writeChanges(), sharedUsage.sync()]);
  };
  const open = async () => {
    isOpen = true;
    await writer.check();
    await Promise.all([tags.read(), sharedUsage.start(), sharedDecisions.start()]);
    timer = setInterval(() => void publishAll(), PUBLISH_MS).unref();
  };
  let opening: Promise<void> | undefined;
  return {
    tags,
    count(row, at) {
      const key = keyOf(row);
      const known = pending.get(key);
      if (known === undefined) {
        if (pending.size >= limits.maxRows) publish();
        pending.set(key, { ...row, count: 1, firstSeen: at, lastSeen: at });
        return;
      }
      known.count += 1;
      known.lastSeen = Math.max(known.lastSeen, at);
      known.firstSeen = Math.min(known.firstSeen, at);
    },
    usage: withPending,
    isRevoked: (brownout) => decisions.get(brownout)?.isRevoked === true,
    decisionOn: (brownout) => decisions.get(brownout),
    async decide(given) {
      // It must be later than the one before, even if the clock of another gateway is ahead.
      const decision = { ...given, at: Math.max(given.at, (decisions.get(given.brownout)?.at ?? 0) + 1) };
      const oldest = clock() - REMEMBERED_MS;
      const kept = [...decisions].filter(([, { until }]) => until >= oldest);
      decisions = mergeDecisions(new Map(kept), new Map([[decision.brownout, decision]]));
      const [isStored, isShared] = await Promise.all([writer.write(), sharedDecisions.sync()]);
      return isStored || isShared;
    },
    configure(next) {
      limits = next;
    },
    open: () => (opening ??= open()),
    async close() {
      if (!isOpen) return;
      clearInterval(timer);
      await publishAll();
    },
  };
}
