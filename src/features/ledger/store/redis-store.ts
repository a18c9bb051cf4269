import { randomBytes, randomUUID } from 'node:crypto';
import { hourOf, systemClock } from '../../../lib/clock.ts';
import { estimateDistinct } from '../../../lib/distinct-count.ts';
import { isPlainObject } from '../../../lib/plain-object.ts';
import { JUDGED_NAMES } from '../../../engine/model/checks.ts';
import { VIOLATION_CATEGORIES } from '../../../engine/model/violation.ts';
import {
  type LedgerEntry,
  type LedgerSample,
  type LedgerQuery,
  type LedgerSnapshot,
  LedgerUnavailable,
  type OperationTraffic,
  type ReplicaTraffic,
  checksOf,
  isContractViolation,
  operationOf,
  ruleOf,
} from '../../../engine/model/ledger-entry.ts';
import { type ReleaseStatistics, STORED_RELEASES } from '../../../engine/model/release-statistics.ts';
import {
  type Redis,
  type RedisReply,
  type RedisScript,
  RedisUnavailable,
  untilAvailable,
} from '../../../engine/sharing/redis/connect-redis.ts';
import {
  type LedgerStore,
  type OpenedStore,
  retentionStart,
  type StoreLimits,
  type StoreState,
} from '../ledger-store.ts';
import { type EntryDelta, type EntryFacts, type LedgerBatch, MAX_SAMPLES, type TrafficDelta } from '../ledger-batch.ts';
import {
  OPEN,
  READ_ENTRIES,
  READ_INDEX,
  READ_REPLICA,
  READ_STATISTICS,
  READ_TRAFFIC,
  REPLICA_HOURS,
  WRITE_BATCH,
} from './redis-scripts.ts';

/** The dependencies of a store in Redis. */
interface RedisStoreParts {
  readonly redis: Redis;
  readonly limits: StoreLimits & { readonly maxBytes: number };
  /** The name of this instance, under which its counts are stored. */
  readonly replica: string;
  /** Called when the server has lost data that this process wrote. */
  readonly onDataLost?: () => void;
}

/**
 * The maximum time that startup waits for Redis, in milliseconds. If Redis is still unavailable after that, the gateway
 * starts with its own key for hashing callers.
 */
const OPEN_MS = 500;
/**
 * The timeout, in milliseconds, for writing a batch or reading part of a snapshot. It is longer than the timeout for
 * commands that requests wait for.
 */
const SCRIPT_MS = 2_000;
/** The number of entries read by one script. It is small, so that other commands are not delayed for long. */
const ENTRIES_PER_READ = 25;
const HOURS_PER_READ = 12;

/** Opens a store that several gateways share. If Redis is not available yet, batches are written later. */
export async function openRedisStore(parts: RedisStoreParts): Promise<OpenedStore> {
  const { redis } = parts;
  const callerKey = randomBytes(32).toString('hex');
  const store = createRedisStore(parts, callerKey);
  await untilAvailable(redis, OPEN_MS);
  try {
    const base = redis.key('ledger');
    const [key, requests, responses] = (await redis.run(OPEN, [base], [callerKey, randomUUID()])) as [
      string,
      string[],
      string[],
    ];
    return { store, fingerprints: [...requests, ...responses], callerKey: key, isLasting: true };
  } catch {
    return { store, fingerprints: [], callerKey, isLasting: true };
  }
}

/** Reads the ledger once, after waiting for the connection. Rejects with `LedgerUnavailable`. */
export async function openRedisReader(redis: Redis, waitMs: number, query: LedgerQuery): Promise<LedgerSnapshot> {
  await untilAvailable(redis, waitMs);
  return readSnapshot(createRun(redis), query, systemClock());
}

/** Creates the store. `callerKey` is stored as the key for hashing callers if the ledger is empty. */
export function createRedisStore(parts: RedisStoreParts, callerKey: string): LedgerStore {
  const { redis, limits, replica, onDataLost } = parts;
  const run = createRun(redis);
  const writer = randomUUID();
  let epoch = '';
  let key = callerKey;
  return {
    async write(batch): Promise<StoreState> {
      const given = { ...toRows(batch), writer, replica, callerKey: key, epoch, newEpoch: randomUUID() };
      const bounds = {
        share: Math.max(1, Math.floor(limits.maxEntries / 2)),
        retainedSince: retentionStart(batch.writtenAt, limits.retentionDays),
        maxBytes: limits.maxBytes,
        maxSamples: MAX_SAMPLES,
      };
      const reply = await run(WRITE_BATCH, [JSON.stringify({ ...given, ...bounds })]);
      const [now, shared, entries, dropped] = reply as [Buffer, Buffer, number, number];
      if (epoch !== '' && String(now) !== epoch) onDataLost?.();
      epoch = String(now);
      key = String(shared);
      return { entries, dropped, callerKey: key };
    },
    read: (query, takenAt) => readSnapshot(run, query, takenAt),
    close: () => Promise.resolve(),
  };
}

type Run = (script: RedisScript, args: readonly (string | number)[]) => Promise<RedisReply>;

/** Returns a function that runs a script on the ledger. The results contain bytes instead of strings. */
function createRun(redis: Redis): Run {
  const base = redis.key('ledger');
  return async (script, args) => {
    try {
      return await redis.run(script, [base], args.map(String), { bytes: true, waitMs: SCRIPT_MS });
    } catch (error) {
      // After `ERR`, `WRONGTYPE` or `NOPERM`, the server would refuse the same script again, so it is not retried.
      if (error instanceof RedisUnavailable && /^(?:ERR|WRONGTYPE|NOPERM)$/.test(error.message)) throw error;
      throw new LedgerUnavailable('the shared ledger cannot be reached', { cause: error });
    }
  };
}

const OUTCOMES = ['passed', 'reported', 'refused'] as const;

/** Converts a batch to the values that the script adds. */
function toRows({ number, writtenAt, release, entries, traffic, statistics, dropped }: LedgerBatch) {
  return {
    number,
    at: writtenAt,
    hour: hourOf(writtenAt),
    release,
    dropped,
    entries: entries.map(toEntryRow),
    traffic: traffic.map(toTrafficRow),
    statistics,
  };
}

function toEntryRow({ facts, firstSeenAt, lastSeenAt, hours, callers, samples }: EntryDelta) {
  return {
    fingerprint: facts.fingerprint,
    direction: facts.direction,
    /** 1 for a violation of the contract, and 0 for an incident, which does not count as a violation. */
    violation: Number(isContractViolation(facts)),
    rule: `${facts.operation ?? ''} ${facts.keyword}`,
    facts: JSON.stringify(facts),
    first: firstSeenAt,
    last: lastSeenAt,
    hours,
    callers,
    samples: samples.map((sample) => JSON.stringify(sample)),
  };
}

function toTrafficRow({ operation = '', hour, requests, checks }: TrafficDelta) {
  const outcomes = JUDGED_NAMES.flatMap((name) =>
    OUTCOMES.map((outcome) => [`${name} ${outcome}`, checks[name]?.[outcome] ?? 0] as const),
  );
  const counts = [['requests', requests] as const, ...outcomes].filter(([, count]) => count > 0);
  return { operation, hour, counts: Object.fromEntries(counts) };
}

/** Reads the ledger in parts. The result does not contain entries that are removed during the read. */
async function readSnapshot(run: Run, query: LedgerQuery, takenAt: number): Promise<LedgerSnapshot> {
  const { since, release, operation, replica, history = false } = query;
  const hour = hourOf(takenAt);
  const reply = await run(READ_INDEX, [since === undefined ? 0 : hourOf(since), hour]);
  const [meta, labels, requests, responses, days, replicas] = reply as [
    (Buffer | null)[],
    Buffer[],
    Buffer[],
    Buffer[],
    Buffer[],
    [Buffer, Buffer, Buffer, number, number][],
  ];
  const [dropped, before, lostAt] = meta.map(toCount);
  const from = Math.max(since === undefined ? 0 : hourOf(since), before ?? 0);
  const sums: StoredEntry[] = [];
  let damaged = 0;
  const fingerprints = [...requests, ...responses].map(String);
  for (let at = 0; at < fingerprints.length; at += ENTRIES_PER_READ) {
    const part = fingerprints.slice(at, at + ENTRIES_PER_READ);
    const found = (await run(READ_ENTRIES, [from, history ? hour : '', ...part])) as EntryReply[];
    const read = found.map((entry) => toEntry(entry, history)).filter((entry) => entry !== undefined);
    damaged += found.length - read.length;
    sums.push(...read);
  }
  const traffic = createTrafficSums();
  for (const day of days.map(Number).filter((one) => one * 24 + 23 >= from))
    traffic.add((await run(READ_TRAFFIC, [day, from])) as (Buffer | number)[]);

  const statistics: ReleaseStatistics[] = [];
  for (const label of labels.map(String).slice(-STORED_RELEASES))
    statistics.push(...statisticsOf(label, (await run(READ_STATISTICS, [label])) as Buffer[]));

  const wanted = (id: string | undefined) => operation === undefined || id === operationOf(operation);
  const inPeriod = new Set([...traffic.releases(), ...sums.flatMap(({ releases }) => Object.keys(releases))]);
  const own = replica === undefined ? undefined : await readReplica(run, replica, from, hour);
  const entries = own === undefined ? sums : sums.map((entry) => ofReplica(entry, own));
  return {
    takenAt,
    since,
    releases: labels.map(String).filter((label) => inPeriod.has(label)),
    entries: entries
      .map(({ releases, ...entry }) => Object.assign(entry, countsIn(releases, release)))
      .filter((entry) => entry.count > 0 && wanted(entry.operation))
      .sort((a, b) => b.lastSeenAt - a.lastSeenAt),
    traffic: (own?.traffic ?? traffic)
      .rows()
      .filter((row) => wanted(row.operation) && (release === undefined || row.release === release)),
    statistics: statistics.filter((row) => wanted(row.operation)),
    dropped: (dropped ?? 0) + damaged,
    replicas: replicas.map(toReplicaTraffic),
    ...(lostAt !== undefined && { lostAt }),
  };
}

type EntryReply = [Buffer, Buffer, Buffer, Buffer, Buffer, (Buffer | number)[], number[], Buffer];

type StoredEntry = Omit<LedgerEntry, 'count'>;

/** Returns undefined if the value is not an entry, because another program may have written to the key. */
function toEntry(reply: EntryReply, history: boolean): StoredEntry | undefined {
  const [facts, first, last, callers, samples, releases, hours, firstRelease] = reply;
  const read = toFacts(parsed(String(facts)));
  const [firstSeenAt, lastSeenAt] = [toCount(first), toCount(last)];
  if (read === undefined || firstSeenAt === undefined || lastSeenAt === undefined) return undefined;
  const lines = String(samples).split('\n').filter(Boolean);
  return {
    ...read,
    firstSeenAt,
    lastSeenAt,
    callers: estimateDistinct(callers),
    releases: Object.fromEntries(pairsOf(releases)),
    samples: lines.map((line) => toSample(parsed(line))).filter((sample) => sample !== undefined),
    ...(history && { history: { hours, firstRelease: String(firstRelease) } }),
  };
}

/** Returns a stored time or count, or undefined if the value is not one. */
function toCount(value: Buffer | null): number | undefined {
  const text = String(value ?? '');
  const number = Number(text);
  return text !== '' && Number.isFinite(number) && Math.abs(number) <= LATEST_MS ? number : undefined;
}

/** The largest time that a `Date` can represent, in epoch milliseconds. */
const LATEST_MS = 8.64e15;

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isPlainObject(value) ? value : {};
  } catch {
    return {};
  }
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isTextOrAbsent = (value: unknown): value is string | undefined => value === undefined || isText(value);
const oneOf =
  <T extends string>(words: readonly T[]) =>
  (value: unknown): value is T =>
    isText(value) && words.includes(value as T);

const isCheck = oneOf([...JUDGED_NAMES, 'upstream']);
const isDirection = oneOf(['request', 'response']);
const isCategory = oneOf(VIOLATION_CATEGORIES);
const isLocation = oneOf(['path', 'query', 'header', 'body', 'status', 'method']);
const isShadowDifference = oneOf(['newly-refused', 'newly-accepted']);

function toFacts(value: Readonly<Record<string, unknown>>): EntryFacts | undefined {
  const { fingerprint, check, direction, category, location, keyword, schemaPath, candidate } = value;
  const { operation, status, at, message, suggestion } = value;
  const isStatus = status === undefined || Number.isSafeInteger(status);
  if (!isText(fingerprint) || !isCheck(check) || !isDirection(direction) || !isCategory(category)) return undefined;
  if (!isLocation(location) || !isText(keyword) || !isText(schemaPath) || !isText(at) || !isText(message))
    return undefined;
  if (!isTextOrAbsent(operation) || !isStatus || !isTextOrAbsent(suggestion)) return undefined;
  if (candidate !== undefined && !isShadowDifference(candidate)) return undefined;
  const rule = ruleOf({ check, direction, category, location, keyword, schemaPath, candidate });
  return { ...rule, fingerprint, at, message, operation, status: status as number | undefined, suggestion };
}

function toSample({ requestId, seenAt, found }: Readonly<Record<string, unknown>>): LedgerSample | undefined {
  const isSample = isText(requestId) && typeof seenAt === 'number' && Math.abs(seenAt) <= LATEST_MS;
  return isSample && isTextOrAbsent(found) ? { requestId, seenAt, found } : undefined;
}

/** Returns the counts for the requested release, or for all releases. */
function countsIn(releases: Readonly<Record<string, number>>, wanted: string | undefined) {
  const kept = Object.entries(releases).filter(([label]) => wanted === undefined || label === wanted);
  return { count: kept.reduce((sum, [, count]) => sum + count, 0), releases: Object.fromEntries(kept) };
}

const pairsOf = (flat: readonly (Buffer | number)[]): [string, number][] =>
  Array.from({ length: flat.length / 2 }, (_, index) => [String(flat[2 * index]), Number(flat[2 * index + 1])]);

/** Sums traffic counts by operation and release. */
function createTrafficSums() {
  const rows = new Map<string, Map<string, number>>();
  const add = (operation: string, name: string, release: string, count: number) => {
    const key = `${operation}\n${release}`;
    const named = rows.get(key) ?? new Map<string, number>();
    rows.set(key, named);
    named.set(name, (named.get(name) ?? 0) + count);
  };
  return {
    add(flat: readonly (Buffer | number)[]) {
      for (const [field, count] of pairsOf(flat)) {
        const [operation = '', rest = ''] = splitOnce(field);
        const [name = '', release = ''] = splitOnce(rest);
        add(operation, name, release, count);
      }
    },
    releases: () => [...rows.keys()].map((key) => splitOnce(key)[1] ?? ''),
    rows: () => [...rows].map(([key, named]) => trafficRow(key, named)),
  };
}

function trafficRow(key: string, named: ReadonlyMap<string, number>): OperationTraffic {
  const [operation = '', release = ''] = splitOnce(key);
  return {
    operation: operation === '' ? undefined : operation,
    release,
    requests: named.get('requests') ?? 0,
    checks: checksOf((name, outcome) => named.get(`${name} ${outcome}`) ?? 0),
  };
}

function statisticsOf(release: string, flat: readonly Buffer[]): ReleaseStatistics[] {
  // Another program may have written to the key, so counts that are not numbers are ignored.
  const counted = pairsOf(flat).filter(([, count]) => Number.isFinite(count));
  const named = Map.groupBy(counted, ([field]) => splitOnce(field)[0] ?? '');
  return [...named].map(([operation, pairs]) => ({
    operation,
    release,
    counts: Object.fromEntries(pairs.map(([field, count]) => [splitOnce(field)[1] ?? '', count])),
  }));
}

/** Splits a string at its first line break. The second part may contain more line breaks. */
function splitOnce(text: string): readonly string[] {
  const at = text.indexOf('\n');
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

interface ReplicaCounts {
  readonly traffic: ReturnType<typeof createTrafficSums>;
  /** For each fingerprint, the number of occurrences by release. */
  readonly entries: ReadonlyMap<string, Readonly<Record<string, number>>>;
}

async function readReplica(run: Run, replica: string, from: number, hour: number): Promise<ReplicaCounts> {
  const traffic = createTrafficSums();
  const entries = new Map<string, Record<string, number>>();
  for (let at = Math.max(from, hour - REPLICA_HOURS); at <= hour; at += HOURS_PER_READ) {
    const end = Math.min(hour, at + HOURS_PER_READ - 1);
    for (const [field, count] of pairsOf((await run(READ_REPLICA, [replica, at, end])) as (Buffer | number)[])) {
      const [kind, rest = ''] = splitOnce(field);
      if (kind === 't') traffic.add([Buffer.from(rest), count]);
      if (kind !== 'v') continue;
      const [fingerprint = '', release = ''] = splitOnce(rest);
      const known = entries.get(fingerprint) ?? {};
      entries.set(fingerprint, Object.assign(known, { [release]: (known[release] ?? 0) + count }));
    }
  }
  return { traffic, entries };
}

/**
 * Returns an entry with the counts for one replica. The callers, samples and history remain those of the whole fleet.
 */
function ofReplica(entry: StoredEntry, own: ReplicaCounts): StoredEntry {
  return { ...entry, releases: own.entries.get(entry.fingerprint) ?? {} };
}

function toReplicaTraffic([replica, release, lastSeenAt, requests, violations]: [
  Buffer,
  Buffer,
  Buffer,
  number,
  number,
]): ReplicaTraffic {
  return {
    replica: String(replica),
    release: String(release),
    lastSeenAt: toCount(lastSeenAt) ?? 0,
    requests,
    violations,
  };
}
