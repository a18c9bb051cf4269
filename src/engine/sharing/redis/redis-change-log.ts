import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Clock } from '../../../lib/clock.ts';
import { isPlainObject, membersOf } from '../../../lib/plain-object.ts';
import type { LogPosition, SharedChange } from '../../model/change-log.ts';
import type { ChangeListener, ChangeLog } from '../sharing.ts';
import { type Redis, type RedisReply, type RedisScript, RedisUnavailable, untilAvailable } from './connect-redis.ts';

/** The dependencies of a change log. */
interface ChangeLogParts {
  readonly redis: Redis;
  readonly clock: Clock;
  /** The maximum number of changes that the Redis server stores. */
  readonly maxChanges: number;
  /** Called with any error in the listener or in this program, but not with Redis errors. */
  readonly onFault?: (message: string, error?: unknown) => void;
  /**
   * Called with the kind of error, such as NOPERM or OOM, when the server begins to refuse the log's commands. Called
   * with undefined when the server accepts commands again.
   */
  readonly onRefused?: (reason: string | undefined) => void;
  /** Called for every applied change. `own` is true if this process appended it. */
  readonly onChange?: (kind: SharedChange['kind'], own: boolean) => void;
}

/** The log of changes, stored in Redis. */
interface RedisChangeLog extends ChangeLog {
  /** Stops reading the log. */
  close(): Promise<void>;
}

/**
 * How long a read waits for new changes, in milliseconds. The latest entry in the log is also checked at least this
 * often.
 */
const BLOCK_MS = 500;
const RETRY_MS = 200;
/** The kinds of errors that mean that the server refused a command. All other errors are connection errors. */
const REFUSALS: ReadonlySet<string> = new Set(['NOPERM', 'OOM', 'READONLY', 'MISCONF', 'NOREPLICAS', 'ERR']);
/** The maximum number of changes that one read returns. */
const BATCH = 1_000;
/**
 * The maximum number of changes that wait while Redis is unavailable. If there are more, the log begins a new lineage
 * and every gateway discards its stored data.
 */
const MAX_WAITING = 1_000;

/** An entry in the log. `change` is undefined if this version of the gateway does not support this kind of change. */
interface Entry {
  readonly number: number;
  readonly id: string;
  readonly change: SharedChange | undefined;
}

/** The state of the log on the server. */
interface Head extends LogPosition {
  /** The id of the latest entry, or an empty string. */
  readonly id: string;
  /** The id of the entry with the requested number, or an empty string. */
  readonly asked: string;
}

/**
 * Checks the log and appends the given change, if any. The numbers within a lineage are consecutive, so a reader
 * notices every missing entry. A new lineage begins if the log's record of its latest entry is missing or does not
 * match the stream, which means that the server has lost data or that another program has written to the keys. A new
 * lineage also begins if the caller requests it.
 *
 * The script writes even if there is nothing to append, so it fails on a replica and on a server that is full. Gateways
 * cannot append changes to such a server, so its contents do not prove that a gateway has received all changes.
 */
const LOG: RedisScript = {
  source: `
local change, id, new, maxChanges, ended, asked = unpack(ARGV)
local head = redis.pcall('HMGET', KEYS[1], 'lineage', 'number')
local last = redis.pcall('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)
local intact = not head.err and not last.err and head[1] and head[1] ~= ended and tonumber(head[2])
intact = intact and (last[1] and last[1][1] or '0-1') == head[2] .. '-1'
if not intact then
  redis.call('DEL', KEYS[1], KEYS[2])
  head = {new, '0'}
  last = {}
end
redis.call('HSET', KEYS[1], 'lineage', head[1], 'number', head[2])
local function idOf(entry) return entry and entry[2][4] or '' end
if change ~= '' then
  local number = redis.call('HINCRBY', KEYS[1], 'number', 1)
  redis.call('XADD', KEYS[2], 'MAXLEN', '~', maxChanges, number .. '-1', 'change', change, 'id', id)
  return {head[1], number, id, ''}
end
local known = redis.call('XRANGE', KEYS[2], asked .. '-1', asked .. '-1')
return {head[1], head[2], idOf(last[1]), idOf(known[1])}`,
};

/**
 * Opens the log of shared changes, which is a Redis stream. A reader continues after the last entry that it applied, so
 * it misses nothing even after being disconnected. The listener is reset if the server has lost or trimmed entries, if
 * the listener throws, or if the log contains a change that this version does not support.
 */
export function openRedisChangeLog(parts: ChangeLogParts): RedisChangeLog {
  const { redis, clock, maxChanges, onFault = () => undefined, onChange = () => undefined } = parts;
  const { onRefused = () => undefined } = parts;
  const keys = [redis.key('changes', 'head'), redis.key('changes', 'log')];
  const stream = keys[1] ?? '';
  const listeners: ChangeListener[] = [];
  /**
   * This gateway's own changes that have not yet been applied as entries in the log, keyed by id. `at` is the position
   * of the entry.
   */
  const own = new Map<string, { readonly change: SharedChange; at?: LogPosition }>();
  /** The changes that have not been appended yet, keyed by their text. */
  const waiting = new Map<string, SharedChange>();
  let hasLostChanges = false;
  let hasUnknownChange = false;
  let position: LogPosition | undefined;
  /** The id of the entry at `position`. Undefined if the log has no such entry. */
  let lastId: string | undefined;
  let syncedAt = -Infinity;
  const closing = new AbortController();

  const readLog = async ({ change = '', id = '', ended = '', asked = 0 } = {}): Promise<Head> => {
    const args = [change, id, randomUUID(), String(maxChanges), ended, String(asked)];
    const [lineage, number, latest, known] = (await redis.run(LOG, keys, args)) as [
      string,
      string | number,
      ...string[],
    ];
    return { lineage, number: Number(number), id: latest ?? '', asked: known ?? '' };
  };

  const readEntries = async (from: number, to: number) =>
    toEntries(await redis.command(stream, ['XRANGE', stream, `${from}-1`, `${to}-1`]));

  const send = async (change: SharedChange) => {
    const id = randomUUID();
    const entry: { readonly change: SharedChange; at?: LogPosition } = { change };
    own.set(id, entry);
    try {
      const at = await readLog({ change: JSON.stringify(change), id });
      entry.at = at;
      // If another gateway has appended a change in the meantime, the reader applies both in order.
      if (position?.lineage === at.lineage && position.number + 1 === at.number)
        applyAll([{ number: at.number, id, change }]);
      // The reader is already past this change: the change or a reset with the same effect has been applied.
      else if (position?.lineage === at.lineage && position.number >= at.number) own.delete(id);
    } catch (error) {
      // The server may have appended the change even though the reply was lost. In that case, the change is harmlessly
      // applied twice.
      own.delete(id);
      throw error;
    }
  };

  const queue = (change: SharedChange) => {
    waiting.set(JSON.stringify(change), change);
    if (waiting.size <= MAX_WAITING) return;
    // Purges and `forget` changes are dropped, because a new lineage has the same effect. What binds callers to an
    // upstream is dropped, too: it holds only where it is known. The number of other changes
    // is limited by the number of operations and documents.
    for (const [text, { kind }] of waiting)
      if (kind === 'purge' || kind === 'forget' || kind === 'side') waiting.delete(text);
    hasLostChanges = true;
  };

  const sendWaiting = async () => {
    if (hasLostChanges && position !== undefined) {
      reset(await readLog({ ended: position.lineage }));
      hasLostChanges = false;
    }
    for (const [text, change] of waiting) {
      await send(change);
      // An identical change may have been queued in the meantime. It is a separate object and must still be appended.
      if (waiting.get(text) === change) waiting.delete(text);
    }
  };

  const resetAll = (at: LogPosition) => listeners.forEach((one) => one.reset(at));

  /**
   * Calls the listeners. If one throws, it has not applied the change, so stored data must not be served from
   * then on.
   */
  const notify = (call: () => void, at: LogPosition) => {
    try {
      call();
    } catch (error) {
      onFault('a change could not be applied', error);
      try {
        resetAll(at);
      } catch (again) {
        onFault('the memory could not be reset', again);
      }
    }
  };

  const reset = ({ lineage, number, id }: Head) => {
    // At startup, this gateway's own changes stay in the map, because the history, which is read next, may contain
    // them. After startup, the reset includes every change that was already in the log, and any other change will still
    // be applied.
    if (position !== undefined)
      for (const [one, { at }] of own)
        if (at !== undefined && (at.lineage !== lineage || at.number <= number)) own.delete(one);
    position = { lineage, number };
    lastId = id;
    notify(() => resetAll({ lineage, number }), position);
  };

  const apply = ({ number, id, change }: Entry, at: LogPosition) => {
    const isOwn = own.delete(id);
    if (change !== undefined) {
      notify(() => listeners.forEach((one) => one.apply(change, number, isOwn)), at);
      onChange(change.kind, isOwn);
      return;
    }
    if (!hasUnknownChange)
      onFault('the log contains a change written by another version: all stored data is discarded');
    hasUnknownChange = true;
    notify(() => resetAll(at), at);
  };

  /** Applies consecutive entries. Returns false if one is missing. */
  const applyAll = (entries: readonly Entry[]): boolean => {
    for (const entry of entries) {
      const { number } = entry;
      // `append` has already advanced the position past the entry that it added.
      if (position !== undefined && number <= position.number) continue;
      if (position === undefined || number !== position.number + 1) return false;
      position = { lineage: position.lineage, number };
      lastId = entry.id;
      apply(entry, position);
    }
    return true;
  };

  /** Reads the history at startup, so that pages from other gateways can be checked against earlier changes. */
  const begin = async (at: Head) => {
    const entries = await readEntries(0, at.number);
    const [first] = entries;
    reset({ ...at, number: first === undefined ? at.number : first.number - 1, id: '' });
    if (!applyAll(entries) || position === undefined || position.number < at.number) reset(at);
  };

  /** Applies all changes that exist when the call begins. */
  const catchUp = async () => {
    const askedAt = clock();
    // `append` can advance the position while the log is being read.
    const [known, knownId] = [position, lastId];
    const at = await readLog({ asked: known?.number ?? 0 });
    if (known === undefined || position === undefined) await begin(at);
    else if (known.lineage !== at.lineage) reset(at);
    // The server has lost the changes at the end of the log and would assign their numbers to other changes.
    else if (at.number < known.number || at.asked !== knownId) reset(await readLog({ ended: at.lineage }));
    else
      while (position.number < at.number) {
        const entries = await readEntries(position.number + 1, Math.min(position.number + BATCH, at.number));
        if (entries.length === 0 || !applyAll(entries)) reset(at);
      }
    syncedAt = askedAt;
  };

  let refusal: string | undefined;
  const reportRefusal = (reason: string | undefined) => {
    if (reason === refusal) return;
    refusal = reason;
    onRefused(reason);
  };

  const follow = async () => {
    const blocking = redis.duplicate();
    closing.signal.addEventListener('abort', () => blocking.close(), { once: true });
    // Both connections usually open quickly. An attempt made before then would fail, and the next one would be made
    // only after RETRY_MS.
    await Promise.all([redis, blocking].map((one) => untilAvailable(one, RETRY_MS)));
    while (!closing.signal.aborted) {
      try {
        await catchUp();
        await sendWaiting();
        reportRefusal(undefined);
        const after = `${position?.number ?? 0}-1`;
        const reply = await blocking.command(
          stream,
          ['XREAD', 'COUNT', String(BATCH), 'BLOCK', String(BLOCK_MS), 'STREAMS', stream, after],
          { waitMs: BLOCK_MS },
        );
        const [read] = (reply ?? []) as [string, RedisReply][];
        // If an entry is missing, `catchUp` resets the listener.
        applyAll(toEntries(read?.[1] ?? []));
      } catch (error) {
        if (!(error instanceof RedisUnavailable)) onFault('the log of shared changes cannot be read', error);
        // Any other error means that the server cannot be reached. Unavailability is reported elsewhere.
        else if (redis.isAvailable() && REFUSALS.has(error.message)) reportRefusal(error.message);
        await wait(RETRY_MS, undefined, { signal: closing.signal, ref: false }).catch(() => undefined);
      }
    }
  };
  const following = follow();

  return {
    async append(change) {
      try {
        await send(change);
      } catch (error) {
        if (!(error instanceof RedisUnavailable)) onFault('a change could not be appended', error);
        queue(change);
      }
    },
    // The log is read asynchronously, so whoever listens at once misses nothing.
    listen: (listener) => void listeners.push(listener),
    position: () => position,
    canMiss: true,
    syncedAt: () => syncedAt,
    unapplied() {
      const inFlight = own.values().map(({ change }) => change);
      return hasLostChanges ? [{ kind: 'purge', tags: 'all' }] : [...inFlight, ...waiting.values()];
    },
    async close() {
      closing.abort();
      await following;
    },
  };
}

function toEntries(reply: RedisReply): Entry[] {
  return (reply as [string, string[]][]).map(([streamId, [, text = '', , id = '']]) => ({
    number: Number.parseInt(streamId, 10),
    id,
    change: toChange(text),
  }));
}

/** Returns the change that a string describes, or undefined if this version does not support this kind of change. */
function toChange(text: string): SharedChange | undefined {
  let change: unknown;
  try {
    change = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isPlainObject(change)) return undefined;
  const { kind, tags, operation, caller, document, fingerprint, at, side, decision } = change;
  if (kind === 'purge' && tags === 'all') return { kind, tags };
  if (kind === 'purge' && Array.isArray(tags) && tags.every(isText)) return { kind, tags };
  if (kind === 'demote' && isText(operation)) return { kind, operation };
  if (kind === 'forget' && isText(caller)) return { kind, caller };
  if (kind === 'side' && isText(caller) && isText(side) && typeof decision === 'number')
    return { kind, caller, side, decision };
  if (kind === 'reread' && isText(document)) return { kind, document };
  if (kind === 'baseline' && isFingerprint(fingerprint) && typeof at === 'number') {
    if (change['accepted'] === null) return { kind, fingerprint, accepted: null, at };
    const { reason, owner, expires, summary } = membersOf(change['accepted']);
    if (!isText(reason) || !isText(owner)) return undefined;
    const optional = { expires: isText(expires) ? expires : undefined, summary: isText(summary) ? summary : undefined };
    return { kind, fingerprint, accepted: { fingerprint, reason, owner, ...optional }, at };
  }
  return undefined;
}

const isFingerprint = (value: unknown): value is string => typeof value === 'string' && /^[\da-f]{16}$/.test(value);
const isText = (value: unknown): value is string => typeof value === 'string';
