import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { DocumentParts, SharedDocument } from '../sharing.ts';
import { systemClock } from '../../../lib/clock.ts';
import { connectRedis, type Redis, type RedisScript, RedisUnavailable, untilAvailable } from './connect-redis.ts';
import { openRedisChangeLog } from './redis-change-log.ts';
import { readRedisSecrets, type RedisOptions } from './redis-options.ts';

/** What a document in Redis needs besides its parts. */
interface RedisDocumentParts<T> extends DocumentParts<T> {
  readonly redis: Redis;
  /** The value of `document` in a change that makes other gateways read the document again. */
  readonly name: string;
  /** Makes the other gateways read the document again. */
  readonly announce: () => Promise<unknown> | undefined;
  readonly onFault: (message: string, error: unknown) => void;
}

/** A document in Redis. */
interface RedisDocument<T> extends SharedDocument<T> {
  close(): void;
}

/**
 * The time, in seconds, after which a document that has not been read is removed, so that documents for earlier
 * contracts do not remain forever. The keys have no expiry time in Redis, because servers are often configured to evict
 * keys with an expiry time.
 */
const EXPIRY_SECONDS = 30 * 24 * 3600;
/** The time, in milliseconds, between attempts to merge a change or, if there is no change, between reads. */
const RETRY_MS = 200;
const REREAD_MS = 30_000;
/** How long a turn lasts unless the document says otherwise, in milliseconds. */
const TURN_MS = 1_000;
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

/** What is needed to replace a document of the given version. */
export interface EditedDocument<T> extends Pick<DocumentParts<T>, 'format' | 'parse'> {
  readonly name: string;
  readonly version: string;
}

/**
 * Reads a document and replaces it with the result of `edit`, for programs that have no copy of the document. If `edit`
 * returns its argument, nothing is written. Returns undefined if there is no document. Throws `RedisUnavailable`.
 */
async function editDocument<T>(
  redis: Redis,
  { name, version, format, parse }: EditedDocument<T>,
  edit: (document: T) => T,
): Promise<{ readonly document: T; readonly isChanged: boolean } | undefined> {
  const key = documentKey(redis, name, version);
  for (let tries = 0; tries < MAX_CONFLICTS; tries += 1) {
    const [revision, text] = await readDocument(redis, name, key);
    if (typeof text !== 'string') return undefined;
    const before = parse(text);
    const document = edit(before);
    const isChanged = document !== before;
    const args = [revision ?? '', randomUUID(), format(document), ''];
    if (!isChanged || (await redis.run(REPLACE, [key, leaseOf(redis, name)], args)) === 1)
      return { document, isChanged };
  }
  throw new RedisUnavailable('the shared document changes too often');
}

/**
 * Edits a document without a gateway, and tells the gateways. Returns the document, `new` if there is none, or
 * `unreachable` if Redis is.
 */
export async function editDocumentInRedis<T>(
  options: RedisOptions,
  parts: EditedDocument<T>,
  edit: (document: T) => T,
): Promise<T | 'new' | 'unreachable'> {
  const { secrets } = readRedisSecrets(options);
  // The error was already reported when the gateway was assembled.
  if (secrets === undefined) return 'unreachable';
  const redis = connectRedis(options, secrets, systemClock);
  try {
    await untilAvailable(redis, options.connectTimeoutMs);
    const edited = await editDocument(redis, parts, edit);
    if (edited?.isChanged === true) {
      const changes = openRedisChangeLog({ redis, clock: systemClock, maxChanges: options.maxChanges });
      await changes.append({ kind: 'reread', document: parts.name });
      await changes.close();
    }
    return edited?.document ?? 'new';
  } catch (error) {
    if (error instanceof RedisUnavailable) return 'unreachable';
    throw error;
  } finally {
    redis.close();
  }
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
export function openRedisDocument<T>(parts: RedisDocumentParts<T>): RedisDocument<T> {
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
        if ((await redis.run(HOLD, [lease], [holder, String(parts.turnMs ?? TURN_MS)])) !== 1) return undefined;
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
