import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Clock } from '../lib/clock.ts';
import type { ChangeListener, ChangeLog, LogPosition, SharedChange } from '../model/change-log.ts';
import { type Redis, type RedisReply, type RedisScript } from './connect-redis.ts';

/** The parts of a change log. */
interface ChangeLogParts {
  readonly redis: Redis;
  readonly listener: ChangeListener;
  readonly clock: Clock;
  /** The number of changes that the server stores. */
  readonly maxChanges: number;
}

/** How long one read waits for new changes. It bounds the time between two checks of the head, in milliseconds. */
const BLOCK_MS = 500;
const RETRY_MS = 200;
/** The changes that wait while Redis is unavailable. Beyond this, they are replaced with a purge of everything. */
const MAX_WAITING = 1_000;

/** An entry of the log. */
interface Entry {
  readonly number: number;
  readonly id: string;
  readonly change: SharedChange;
}

/**
 * Appends a change and returns the lineage and the number of the entry. The numbers of a lineage are consecutive, so a
 * reader notices every entry that is missing. Without a head, the server has lost its data, and a new lineage begins.
 */
const APPEND: RedisScript = {
  source: `
local lineage = redis.call('HGET', KEYS[1], 'lineage')
if not lineage then
  lineage = ARGV[3]
  redis.call('DEL', KEYS[2])
  redis.call('HSET', KEYS[1], 'lineage', lineage, 'number', 0)
end
if ARGV[1] == '' then return {lineage, tonumber(redis.call('HGET', KEYS[1], 'number'))} end
local number = redis.call('HINCRBY', KEYS[1], 'number', 1)
redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[2], number .. '-1', 'change', ARGV[1], 'id', ARGV[4])
return {lineage, number}`,
};

/**
 * Begins a new lineage, unless another gateway has already done so. This is necessary after a failover to a server that
 * lacks changes, because it would assign the numbers of the lost changes to other ones.
 */
const RENEW: RedisScript = {
  source: `
if redis.call('HGET', KEYS[1], 'lineage') == ARGV[1] then
  redis.call('DEL', KEYS[2])
  redis.call('HSET', KEYS[1], 'lineage', ARGV[2], 'number', 0)
end
return redis.call('HMGET', KEYS[1], 'lineage', 'number')`,
};

/**
 * Opens the log of shared changes, which is a Redis stream. A reader continues after the last entry that it has
 * applied, so it misses nothing while it is disconnected. If entries are missing because the server has lost or trimmed
 * them, the listener is reset.
 */
export function openRedisChangeLog({ redis, listener, clock, maxChanges }: ChangeLogParts): ChangeLog {
  const head = redis.key('changes', 'head');
  const stream = redis.key('changes', 'log');
  const own = new Set<string>();
  let waiting: SharedChange[] = [];
  let position: LogPosition | undefined;
  let lastId: string | undefined;
  let syncedAt = -Infinity;
  const closing = new AbortController();

  const readHead = async () =>
    toPosition(await redis.run(APPEND, [head, stream], ['', String(maxChanges), randomUUID(), '']));

  const send = async (change: SharedChange) => {
    const id = randomUUID();
    own.add(id);
    try {
      const given = [JSON.stringify(change), String(maxChanges), randomUUID(), id];
      const at = toPosition(await redis.run(APPEND, [head, stream], given));
      // If somebody else has appended a change in between, the reader applies both in their order.
      if (position?.lineage === at.lineage && position.number + 1 === at.number)
        applyAll([{ number: at.number, id, change }]);
    } catch (error) {
      // The server may have appended the change. In that case, it is applied a second time, which does no harm.
      own.delete(id);
      throw error;
    }
  };

  const queue = (change: SharedChange) => {
    waiting.push(change);
    if (waiting.length <= MAX_WAITING) return;
    const others = waiting.filter(({ kind }) => kind !== 'purge').slice(-MAX_WAITING / 2);
    waiting = [{ kind: 'purge', tags: 'all' }, ...others];
  };

  const sendWaiting = async () => {
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      await send(next);
      waiting.splice(waiting.indexOf(next), 1);
    }
  };

  const reset = (to: LogPosition) => {
    position = to;
    lastId = undefined;
    own.clear();
    listener.reset(to);
  };

  /** Applies consecutive entries. Returns false if one is missing. */
  const applyAll = (entries: readonly Entry[]): boolean => {
    for (const { number, id, change } of entries) {
      // `append` has already counted its own entry.
      if (position !== undefined && number <= position.number) continue;
      if (position === undefined || number !== position.number + 1) return false;
      listener.apply(change, number, own.delete(id));
      position = { lineage: position.lineage, number };
      lastId = id;
    }
    return true;
  };

  /** Reads the history at the start, so that pages of other gateways can be checked against earlier changes. */
  const begin = async (at: LogPosition) => {
    const entries = toEntries(await redis.command(stream, ['XRANGE', stream, '-', `${at.number}-1`]));
    const [first] = entries;
    reset({ lineage: at.lineage, number: first === undefined ? at.number : first.number - 1 });
    if (!applyAll(entries)) reset(at);
  };

  /** Returns whether the server still has the last entry that was applied here. */
  const hasLast = async ({ number }: LogPosition): Promise<boolean> => {
    if (lastId === undefined) return true;
    const [entry] = toEntries(await redis.command(stream, ['XRANGE', stream, `${number}-1`, `${number}-1`]));
    return entry === undefined || entry.id === lastId;
  };

  /** Brings this process up to date. Afterwards, it has applied every change that existed when the call began. */
  const catchUp = async (isNewConnection: boolean) => {
    const askedAt = clock();
    let at = await readHead();
    if (position === undefined) await begin(at);
    else if (position.lineage !== at.lineage) reset(at);
    else if (at.number < position.number || (isNewConnection && !(await hasLast(position)))) {
      at = toPosition(await redis.run(RENEW, [head, stream], [at.lineage, randomUUID()]));
      reset(at);
    } else if (at.number > position.number) {
      const from = `${position.number + 1}-1`;
      const entries = toEntries(await redis.command(stream, ['XRANGE', stream, from, `${at.number}-1`]));
      if (!applyAll(entries) || position.number < at.number) reset(at);
    }
    syncedAt = askedAt;
  };

  const follow = async () => {
    const blocking = redis.duplicate();
    closing.signal.addEventListener('abort', () => blocking.close(), { once: true });
    let isNewConnection = true;
    while (!closing.signal.aborted) {
      try {
        await catchUp(isNewConnection);
        await sendWaiting();
        isNewConnection = false;
        const after = `${position?.number ?? 0}-1`;
        const reply = await blocking.command(
          stream,
          ['XREAD', 'COUNT', '1000', 'BLOCK', String(BLOCK_MS), 'STREAMS', stream, after],
          { waitMs: BLOCK_MS },
        );
        const [read] = (reply ?? []) as [string, RedisReply][];
        // If an entry is missing, `catchUp` resets the listener.
        applyAll(toEntries(read?.[1] ?? []));
      } catch {
        isNewConnection = true;
        await wait(RETRY_MS, undefined, { signal: closing.signal, ref: false }).catch(() => undefined);
      }
    }
  };
  const following = follow();

  return {
    async append(change) {
      try {
        await send(change);
      } catch {
        queue(change);
      }
    },
    position: () => position,
    syncedAt: () => syncedAt,
    async close() {
      closing.abort();
      await following;
    },
  };
}

function toPosition(reply: RedisReply): LogPosition {
  const [lineage, number] = reply as [string, string | number];
  return { lineage, number: Number(number) };
}

function toEntries(reply: RedisReply): Entry[] {
  return (reply as [string, string[]][]).map(([streamId, [, change = '', , id = '']]) => ({
    number: Number.parseInt(streamId, 10),
    id,
    change: JSON.parse(change) as SharedChange,
  }));
}
