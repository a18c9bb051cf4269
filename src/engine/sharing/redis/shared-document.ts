import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type Redis, type RedisScript, RedisUnavailable } from './connect-redis.ts';

/**
 * A document that all gateways in a fleet share. Each gateway applies its changes to a copy in memory immediately, and
 * merges them into the document as soon as Redis can be reached. Nothing happens before `start` is called.
 */
export interface SharedDocument<T> {
  /** Merges the copy and the document, and then merges them again at regular intervals. */
  start(): Promise<void>;
  /**
   * Merges the copy and the document after a change to either of them. Resolves to false if Redis cannot be reached.
   */
  sync(): Promise<boolean>;
  /**
   * Returns the right to replace the document. Returns undefined if another gateway holds this right or if Redis
   * cannot be reached.
   */
  takeTurn(): Promise<Turn<T> | undefined>;
  close(): void;
}

/** A gateway's right to replace the document. It ends when the lease expires. */
interface Turn<T> {
  /**
   * Replaces the document. Returns false and changes nothing if the turn has ended or the document has changed since
   * the turn began. A gateway that was paused during its turn therefore cannot overwrite newer decisions.
   */
  commit(next: T): Promise<boolean>;
}

/** The dependencies of a shared document. */
export interface DocumentParts<T> {
  readonly redis: Redis;
  /** The value of `document` in a change that makes other gateways read the document again. */
  readonly name: string;
  /** Makes the other gateways read the document again. */
  readonly announce: () => Promise<unknown>;
  /** Returns the copy in memory. */
  readonly current: () => T;
  /** Replaces the copy in memory. */
  readonly adopt: (next: T) => void;
  /** Merges this gateway's changes since `base` into a newer version of the document. */
  readonly merge: (base: T, mine: T, theirs: T) => T;
  /** Returns the version of the document to which a copy belongs. Copies of different versions are never merged. */
  readonly versionOf?: (value: T) => string;
  /** Returns the merge base for a copy of a version that this gateway has never merged before. */
  readonly empty: (value: T) => T;
  readonly format: (value: T) => string;
  /** Parses the text of a document. Throws an error if the text is invalid. */
  readonly parse: (text: string) => T;
  /** Called after each merge of the copy and the document. */
  readonly onMerged?: () => void;
  /** How long a turn lasts, in milliseconds. */
  readonly turnMs?: number;
  readonly onFault: (message: string, error: unknown) => void;
}

/**
 * The time, in seconds, after which a document that has not been read is removed, so that documents for earlier
 * contracts do not remain forever. The keys have no expiry time in Redis, because servers are often configured to evict
 * keys with an expiry time.
 */
const EXPIRY_SECONDS = 30 * 24 * 3600;
/** The time, in milliseconds, between attempts to merge a change or, if there is no change, between reads. */
const RETRY_MS = 1_000;
const REREAD_MS = 30_000;
/** The maximum time that startup waits for the document, in milliseconds. */
const START_MS = 1_000;
const MAX_CONFLICTS = 20;

const READ: RedisScript = {
  source: `
local now = tonumber(redis.call('TIME')[1])
redis.call('ZADD', KEYS[2], now, KEYS[1])
for _, key in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now - ${EXPIRY_SECONDS})) do
  redis.call('UNLINK', key)
  redis.call('ZREM', KEYS[2], key)
end
return redis.call('HMGET', KEYS[1], 'version', 'text', 'origin')`,
};

/**
 * Replaces a document if it has not changed since it was read. The revision is a random string, because a server that
 * has lost its data could reuse a number.
 */
const REPLACE: RedisScript = {
  source: `
local expected, version, text, holder = unpack(ARGV)
if (redis.call('HGET', KEYS[1], 'version') or '') ~= expected then return 0 end
if holder ~= '' and redis.call('GET', KEYS[2]) ~= holder then return 0 end
redis.call('HSET', KEYS[1], 'version', version, 'text', text)
redis.call('HSETNX', KEYS[1], 'origin', version)
return 1`,
};

/** Begins or extends a lease, unless another gateway holds it. */
const HOLD: RedisScript = {
  source: `
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`,
};

/** The part of a document's definition that is needed to replace the document. */
type EditedDocument<T> = Pick<DocumentParts<T>, 'redis' | 'name' | 'format' | 'parse'> & {
  /** The document's version. */
  readonly version: string;
};

/**
 * Reads a document and replaces it with the result of `edit`. Intended for programs without a copy of the document. If
 * `edit` returns its argument, nothing is written. Returns undefined if there is no document. The caller should notify
 * the other gateways of the change. Otherwise, they might not detect it for up to {@link REREAD_MS}. Throws
 * `RedisUnavailable`.
 */
export async function editSharedDocument<T>(
  { redis, name, version, format, parse }: EditedDocument<T>,
  edit: (document: T) => T,
): Promise<T | undefined> {
  const key = documentKey(redis, name, version);
  for (let tries = 0; tries < MAX_CONFLICTS; tries += 1) {
    const [revision, text] = await readDocument(redis, name, key);
    if (typeof text !== 'string') return undefined;
    const document = parse(text);
    const next = edit(document);
    const args = [revision ?? '', randomUUID(), format(next), ''];
    if (next === document || (await redis.run(REPLACE, [key, leaseOf(redis, name)], args)) === 1) return next;
  }
  throw new RedisUnavailable('the shared document changes too often');
}

const documentKey = (redis: Redis, name: string, version: string) =>
  redis.key('documents', name, ...(version === '' ? [] : [version]));
const leaseOf = (redis: Redis, name: string) => redis.key('documents', name, 'lease');

async function readDocument(redis: Redis, name: string, key: string) {
  const [revision, text, origin] = (await redis.run(READ, [key, redis.key('documents', name, 'versions')], [])) as (
    string | null
  )[];
  return [revision, text, origin] as const;
}

/** Opens a shared document. Call `close` to stop reading it. */
export function openSharedDocument<T>(parts: DocumentParts<T>): SharedDocument<T> {
  const { redis, name, current, adopt, merge, empty, format, parse, onFault, versionOf = () => '' } = parts;
  const holder = randomUUID();
  const lease = leaseOf(redis, name);
  /**
   * The document as last read or written, with its revision in Redis. `origin` identifies the creation of the document.
   * It changes if the server loses the document and a gateway creates it again.
   */
  let base = { version: versionOf(current()), value: current(), revision: '', origin: '' };
  let started = false;
  let closed = false;
  let dirty = true;
  let syncedAt = -Infinity;
  let running: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isInvalid = false;

  const replace = async (version: string, expected: string, text: string, by = ''): Promise<string | undefined> => {
    const revision = randomUUID();
    const replaced = await redis.run(
      REPLACE,
      [documentKey(redis, name, version), lease],
      [expected, revision, text, by],
    );
    return replaced === 1 ? revision : undefined;
  };

  /**
   * Attempts one merge. Returns false if the document or the copy has changed in the meantime, in which case the merge
   * must be repeated.
   */
  const mergeOnce = async (): Promise<boolean> => {
    const version = versionOf(current());
    const [revision, text, origin] = await readDocument(redis, name, documentKey(redis, name, version));
    const mine = current();
    if (versionOf(mine) !== version) return false;
    // If the document was re-created, items missing from it were lost rather than removed.
    const isSame = base.version === version && (base.origin === '' || base.origin === origin);
    const known = isSame ? base.value : empty(mine);
    const theirs = typeof text === 'string' ? parse(text) : undefined;
    const next = theirs === undefined ? mine : merge(known, mine, theirs);
    let stored = revision ?? '';
    if (theirs === undefined || format(next) !== format(theirs)) {
      const written = await replace(version, stored, format(next));
      if (written === undefined) return false;
      stored = written;
      void parts.announce();
    }
    const now = current();
    if (versionOf(now) !== version) return false;
    // The copy may have changed while the document was being written.
    const merged = merge(mine, now, next);
    base = { version, value: next, revision: stored, origin: origin ?? stored };
    if (!isDeepStrictEqual(merged, now)) adopt(merged);
    return isDeepStrictEqual(merged, next);
  };

  const mergeAll = async () => {
    try {
      for (let tries = 0; tries < MAX_CONFLICTS && dirty; tries += 1) {
        dirty = false;
        if (!(await mergeOnce())) dirty = true;
      }
      syncedAt = Date.now();
      isInvalid = false;
      parts.onMerged?.();
    } catch (error) {
      dirty = true;
      // A document written by a newer version of Portico is left unchanged.
      if (!(error instanceof RedisUnavailable) && !isInvalid) {
        isInvalid = true;
        onFault(`the shared document ${name} cannot be used`, error);
      }
    }
  };
  const sync = async (): Promise<boolean> => {
    dirty = true;
    if (!started || closed) return false;
    running ??= mergeAll().finally(() => {
      running = undefined;
    });
    await running;
    return !dirty;
  };

  return {
    async start() {
      started = true;
      timer = setInterval(() => {
        if (dirty || Date.now() - syncedAt > REREAD_MS) void sync();
      }, RETRY_MS).unref();
      const late = Promise.withResolvers<void>();
      const limit = setTimeout(late.resolve, START_MS).unref();
      await Promise.race([sync(), late.promise]);
      clearTimeout(limit);
    },
    sync,
    async takeTurn() {
      if (!started || closed) return undefined;
      try {
        if ((await redis.run(HOLD, [lease], [holder, String(parts.turnMs ?? RETRY_MS)])) !== 1) return undefined;
      } catch {
        return undefined;
      }
      if (!(await sync())) return undefined;
      const { version, revision } = base;
      return {
        async commit(next) {
          try {
            const written = await replace(version, revision, format(next), holder);
            if (written !== undefined) void parts.announce();
            return written !== undefined;
          } catch {
            return false;
          }
        },
      };
    },
    close() {
      closed = true;
      clearInterval(timer);
    },
  };
}

/**
 * Merges lists whose items have keys. If only one side changed an item, the changed value is used. If both sides
 * changed it, `prefer` chooses the value. Undefined represents a removed item.
 */
export function mergeItems<Item>(
  lists: { readonly base: readonly Item[]; readonly mine: readonly Item[]; readonly theirs: readonly Item[] },
  keyOf: (item: Item) => string,
  prefer: (mine: Item | undefined, theirs: Item | undefined) => Item | undefined,
): Item[] {
  const byKey = (items: readonly Item[]) => new Map(items.map((item) => [keyOf(item), item]));
  const [base, mine, theirs] = [byKey(lists.base), byKey(lists.mine), byKey(lists.theirs)];
  const merged = new Map(theirs);
  for (const key of new Set([...base.keys(), ...mine.keys()])) {
    const [before, here, there] = [base.get(key), mine.get(key), theirs.get(key)];
    if (isDeepStrictEqual(here, before)) continue;
    const chosen = isDeepStrictEqual(there, before) ? here : prefer(here, there);
    if (chosen === undefined) merged.delete(key);
    else merged.set(key, chosen);
  }
  return [...merged.values()];
}

/** A list of the latest lines from all gateways. Identical lines are stored only once. */
interface SharedTrail {
  /**
   * Adds a line. `at` is the line's time in epoch milliseconds. While Redis is unavailable, the latest lines are
   * queued.
   */
  add(line: string, at: number): void;
  /** Returns the latest lines, oldest first. Returns undefined if Redis cannot be reached. */
  read(): Promise<readonly string[] | undefined>;
}

/** Opens a shared trail that stores at most `max` lines and returns the latest `shown` lines. */
export function openSharedTrail(redis: Redis, name: string, max: number, shown: number): SharedTrail {
  const key = redis.key('documents', name);
  let waiting: (readonly [at: string, line: string])[] = [];
  return {
    add(line, at) {
      waiting = [...waiting, [String(at), line] as const].slice(-max);
    },
    async read() {
      const added = waiting;
      try {
        const lines = await redis.run(TRAIL, [key], [String(max), String(shown), ...added.flat()]);
        waiting = waiting.filter((one) => !added.includes(one));
        return lines as string[];
      } catch {
        return undefined;
      }
    },
  };
}

const TRAIL: RedisScript = {
  source: `
for i = 3, #ARGV, 2 do redis.call('ZADD', KEYS[1], ARGV[i], ARGV[i + 1]) end
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -tonumber(ARGV[1]) - 1)
return redis.call('ZRANGE', KEYS[1], -tonumber(ARGV[2]), -1)`,
};
