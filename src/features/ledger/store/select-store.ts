import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { IN_MEMORY } from '../../../lib/replace-file.ts';
import { type LedgerQuery, type LedgerSnapshot, LedgerUnavailable } from '../../../engine/model/ledger-entry.ts';
import { systemClock } from '../../../lib/clock.ts';
import { StartFault } from '../../../engine/model/fault.ts';
import { connectRedis, type Redis, RedisUnavailable } from '../../../engine/sharing/redis/connect-redis.ts';
import { redisHint } from '../../../engine/sharing/redis/redis-hint.ts';
import { readRedisSecrets, type RedisOptions, usesRedis } from '../../../engine/sharing/redis/redis-options.ts';
import type { LedgerOptions, LedgerStoreKind } from '../options.ts';
import type { OpenedStore } from '../ledger-store.ts';
import { createWorkerStore, openFileStore } from './sqlite/file-store.ts';

/** The location where a ledger is stored. The gateway and the commands open a ledger only through this interface. */
export interface LedgerLocation {
  /** The name of the location in reports and messages, such as the path of the file. It must not contain a secret. */
  readonly name: string;
  /** The configuration key that sets the location, as a JSON pointer. Errors in the store are reported at this key. */
  readonly key: string;
  /** False if the data is lost when the process ends. Other processes cannot read such a ledger. */
  readonly isLasting: boolean;
  /**
   * Determines what happens if the store is unusable and `key` is not configured. If true, the gateway logs a warning
   * and uses an in-memory ledger. The counts in that ledger are lost when the gateway stops, so this may be true only
   * for a default location. If false, the gateway does not start.
   */
  readonly mayBeReplaced: boolean;
  /**
   * Opens the store for a gateway. Throws `LedgerStoreError` if the store is missing or unusable. A shared store is
   * opened even when it cannot be reached, so that the gateway can start and write to it later.
   */
  open(writer: LedgerWriter): Promise<OpenedStore>;
  /**
   * Reads the ledger, even while a gateway is writing to it. Returns undefined if there is nothing to read because the
   * ledger is in memory or has not been used yet. Throws `StartFault` if the ledger cannot be used.
   */
  read(query: LedgerQuery): Promise<LedgerSnapshot | undefined>;
}

/** The values that a gateway passes to the store that it opens. All other inputs come from the store's options. */
export interface LedgerWriter {
  /** The name of this instance. A shared store also counts the requests of each instance separately. */
  readonly replica: string;
  /** Called when a shared store has lost data that this process wrote. */
  readonly onDataLost: () => void;
  /** The gateway's connection to Redis, which a store in Redis uses. Undefined if Redis is not configured. */
  readonly redis: Redis | undefined;
}

const FILE_KEY = '/ledger/file';

/** Returns the configured location. The configuration determines the kind of store. */
export function ledgerAt(options: LedgerOptions, redis?: RedisOptions): LedgerLocation {
  const kind = ledgerStoreOf(options, redis);
  switch (kind) {
    case 'file':
      return ledgerInFile(options);
    case 'memory':
      return ledgerInMemory(options);
    case 'redis':
      return ledgerInRedis(options, redis);
    default:
      return unknownStore(kind);
  }
}

/** Causes a compile error if `ledgerAt` does not handle a kind of store. */
function unknownStore(kind: never): never {
  throw new Error(`the ledger store ${String(kind)} has no location`);
}

function ledgerInMemory(limits: LedgerOptions): LedgerLocation {
  return {
    name: IN_MEMORY,
    key: FILE_KEY,
    isLasting: false,
    mayBeReplaced: false,
    open: () => Promise.resolve(openLedgerInMemory(limits)),
    read: () => Promise.resolve(undefined),
  };
}

function ledgerInFile(options: LedgerOptions): LedgerLocation {
  const { file } = options;
  return {
    name: file,
    key: FILE_KEY,
    isLasting: true,
    // If the default file's folder is not writable, the gateway still starts.
    mayBeReplaced: true,
    open: () => openFileStore(file, options),
    read: async (query) => {
      if (!existsSync(file)) return undefined;
      // `open-ledger-file.ts` is imported only here, because it loads SQLite, which a gateway with a new ledger does
      // not need at startup.
      const { openLedgerFile } = await import('./sqlite/open-ledger-file.ts');
      const ledger = openLedgerFile(file);
      try {
        return await ledger.snapshot(query);
      } finally {
        ledger.close();
      }
    },
  };
}

const redisFault = (message: string, suggestion?: string) =>
  new StartFault([{ source: 'redis', pointer: '', message, ...(suggestion !== undefined && { suggestion }) }]);

function ledgerInRedis(limits: LedgerOptions, options: RedisOptions | undefined): LedgerLocation {
  if (options === undefined) throw redisFault('a ledger in Redis needs a server', 'set redis.url');
  return {
    name: `Redis (prefix ${options.prefix})`,
    key: '/ledger/store',
    isLasting: true,
    mayBeReplaced: false,
    async open({ redis, replica, onDataLost }) {
      if (redis === undefined) throw new Error('a ledger in Redis needs the connection of the gateway');
      const { openRedisStore } = await import('./redis-store.ts');
      return openRedisStore({ redis, replica, onDataLost, limits });
    },
    async read(query) {
      const { secrets, faults } = readRedisSecrets(options);
      if (secrets === undefined)
        throw new StartFault(faults.map(({ key, message }) => ({ source: `redis.${key}`, pointer: '', message })));
      const { openRedisReader } = await import('./redis-store.ts');
      let reason = 'it does not respond in time';
      const onState = (state: { readonly reason?: string }) => (reason = state.reason ?? reason);
      const redis = connectRedis(options, secrets, systemClock, { onState });
      try {
        return await openRedisReader(redis, options.connectTimeoutMs, query);
      } catch (error) {
        if (error instanceof LedgerUnavailable)
          throw redisFault(`the server cannot be reached, so the ledger cannot be read: ${redisHint(reason)}`);
        if (error instanceof RedisUnavailable)
          throw redisFault(`the server refuses to read the ledger: ${redisHint(error.message)}`);
        throw error;
      } finally {
        redis.close();
      }
    },
  };
}

/**
 * Opens an in-memory ledger. Used until the configured store is open, and for the report at the end of a walk. Its
 * database is in the ledger's thread, so SQLite is loaded only once something is written or read.
 */
export function openLedgerInMemory(limits: Omit<LedgerOptions, 'file'>): OpenedStore {
  const callerKey = randomBytes(32).toString('hex');
  const store = createWorkerStore({ path: IN_MEMORY, limits, callerKey });
  return { store, fingerprints: [], callerKey, isLasting: false };
}

/**
 * Returns the options for a ledger in a different file. Every command that overrides the location uses this function,
 * so that no part of the configured location remains.
 */
export function withLedgerFile(options: LedgerOptions, file: string): LedgerOptions {
  return { ...options, store: 'file', file };
}

/** Returns the kind of store for the ledger: the configured kind or, if none is configured, the default. */
export function ledgerStoreOf({ store, file }: LedgerOptions, redis: RedisOptions | undefined): LedgerStoreKind {
  if (store !== undefined && store !== 'file') return store;
  if (file === IN_MEMORY) return 'memory';
  return store === undefined && redis !== undefined && usesRedis(redis) ? 'redis' : 'file';
}
