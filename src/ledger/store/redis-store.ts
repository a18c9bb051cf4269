import { randomBytes, randomUUID } from 'node:crypto';
import { hourOf, systemClock } from '../../lib/clock.ts';
import { estimateDistinct } from '../../lib/distinct-count.ts';
import { CHECK_NAMES } from '../../model/checks.ts';
import type {
  LedgerEntry,
  LedgerSample,
  LedgerQuery,
  LedgerSnapshot,
  OperationTraffic,
  ReplicaTraffic,
} from '../../model/ledger-entry.ts';
import {
  type Redis,
  type RedisReply,
  type RedisScript,
  RedisUnavailable,
  untilAvailable,
} from '../../redis/connect-redis.ts';
import {
  type EntryDelta,
  type EntryFacts,
  type LedgerBatch,
  MAX_SAMPLES,
  type TrafficDelta,
  checksOf,
  type LedgerStore,
  type OpenedStore,
  operationOf,
  retentionStart,
  type StoreLimits,
  type StoreState,
  StoreUnavailable,
} from '../ledger-store.ts';

/** The parts of a store in Redis. */
interface RedisStoreParts {
  readonly redis: Redis;
  readonly limits: StoreLimits & { readonly maxBytes: number };
  /** The name of this instance. Its counts are stored under this name. */
  readonly replica: string;
  /** Called when the server has lost data that this process wrote. */
  readonly onDataLost?: () => void;
}

/**
 * How long startup waits for Redis, in milliseconds. If Redis is still unavailable, the gateway starts with its own key
 * for hashing callers.
 */
const OPEN_MS = 500;
/**
 * The timeout, in milliseconds, for writing a batch or reading a part of a snapshot. It is longer than the timeout for
 * the commands that requests wait for.
 */
const SCRIPT_MS = 2_000;
/** The number of entries that one script reads. It is small so that other commands are not delayed for long. */
const ENTRIES_PER_READ = 25;
const HOURS_PER_READ = 12;

/** Opens the store that several gateways share. If Redis is not available yet, the store catches up later. */
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
    return { store, fingerprints: [...requests, ...responses], callerKey: key };
  } catch {
    return { store, fingerprints: [], callerKey };
  }
}

/** Reads the ledger once, after waiting for the connection. Rejects with `StoreUnavailable`. */
export async function openRedisReader(redis: Redis, waitMs: number, query: LedgerQuery): Promise<LedgerSnapshot> {
  await untilAvailable(redis, waitMs);
  return readSnapshot(createRun(redis), query, systemClock());
}

/** Creates the ledger if it is empty, and returns the shared key for hashing callers and all fingerprints. */
const OPEN: RedisScript = {
  source: `
local base = KEYS[1]
if redis.call('HSETNX', base, 'epoch', ARGV[2]) == 1 then
  redis.call('HSET', base, 'callerKey', ARGV[1], 'dropped', 0, 'bytes', 0, 'before', 0, 'tidied', 0)
end
return {redis.call('HGET', base, 'callerKey'), redis.call('ZRANGE', base .. ':seen:request', 0, -1),
  redis.call('ZRANGE', base .. ':seen:response', 0, -1)}`,
};

/** Creates the store. `callerKey` is used if the ledger is empty. */
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

/** Returns a function that runs a script on the ledger. The strings in the result are returned as bytes. */
function createRun(redis: Redis): Run {
  const base = redis.key('ledger');
  return async (script, args) => {
    try {
      return await redis.run(script, [base], args.map(String), { bytes: true, waitMs: SCRIPT_MS });
    } catch (error) {
      // The server would refuse the same script again.
      if (error instanceof RedisUnavailable && /^(?:ERR|WRONGTYPE|NOPERM)$/.test(error.message)) throw error;
      throw new StoreUnavailable('the shared ledger cannot be reached', { cause: error });
    }
  };
}

const OUTCOMES = ['passed', 'reported', 'refused'] as const;

/** Converts a batch to the values that the script adds. */
function toRows({ number, writtenAt, release, entries, traffic, dropped }: LedgerBatch) {
  return {
    number,
    at: writtenAt,
    hour: hourOf(writtenAt),
    release,
    dropped,
    entries: entries.map(toEntryRow),
    traffic: traffic.map(toTrafficRow),
  };
}

function toEntryRow({ facts, firstSeenAt, lastSeenAt, hours, callers, samples }: EntryDelta) {
  return {
    fingerprint: facts.fingerprint,
    direction: facts.direction,
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
  const outcomes = CHECK_NAMES.flatMap((name) =>
    OUTCOMES.map((outcome) => [`${name} ${outcome}`, checks[name]?.[outcome] ?? 0] as const),
  );
  const counts = [['requests', requests] as const, ...outcomes].filter(([, count]) => count > 0);
  return { operation, hour, counts: Object.fromEntries(counts) };
}

/** Reads the ledger in parts. An entry that is removed during the reading is missing from the result. */
async function readSnapshot(run: Run, query: LedgerQuery, takenAt: number): Promise<LedgerSnapshot> {
  const { since, release, operation, replica, history = false } = query;
  const hour = hourOf(takenAt);
  const reply = await run(READ_INDEX, [since === undefined ? 0 : hourOf(since), hour]);
  const [meta, labels, requests, responses, days, replicas] = reply as [
    [Buffer | null, Buffer | null, Buffer | null],
    Buffer[],
    Buffer[],
    Buffer[],
    Buffer[],
    [Buffer, Buffer, Buffer, number, number][],
  ];
  const [dropped, before, lostAt] = meta;
  const from = Math.max(since === undefined ? 0 : hourOf(since), Number(before ?? 0));
  const sums: StoredEntry[] = [];
  const fingerprints = [...requests, ...responses].map(String);
  for (let at = 0; at < fingerprints.length; at += ENTRIES_PER_READ) {
    const part = fingerprints.slice(at, at + ENTRIES_PER_READ);
    const found = (await run(READ_ENTRIES, [from, history ? hour : '', ...part])) as EntryReply[];
    sums.push(...found.map((entry) => toEntry(entry, history)));
  }
  const traffic = createTrafficSums();
  for (const day of days.map(Number).filter((one) => one * 24 + 23 >= from))
    traffic.add((await run(READ_TRAFFIC, [day, from])) as (Buffer | number)[]);

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
    dropped: Number(dropped ?? 0),
    replicas: replicas.map(toReplicaTraffic),
    ...(lostAt !== null && { lostAt: Number(lostAt) }),
  };
}

type EntryReply = [Buffer, Buffer, Buffer, Buffer, Buffer, (Buffer | number)[], number[], Buffer];

type StoredEntry = Omit<LedgerEntry, 'count'>;

function toEntry(reply: EntryReply, history: boolean): StoredEntry {
  const [facts, first, last, callers, samples, releases, hours, firstRelease] = reply;
  const read = JSON.parse(String(facts)) as EntryFacts;
  const lines = String(samples).split('\n').filter(Boolean);
  return {
    ...read,
    // JSON omits undefined fields.
    operation: read.operation,
    status: read.status,
    suggestion: read.suggestion,
    firstSeenAt: Number(first),
    lastSeenAt: Number(last),
    callers: estimateDistinct(callers),
    releases: Object.fromEntries(pairsOf(releases)),
    samples: lines.map((line) => {
      const { requestId, seenAt, found } = JSON.parse(line) as LedgerSample;
      return { requestId, seenAt, found };
    }),
    ...(history && { history: { hours, firstRelease: String(firstRelease) } }),
  };
}

/** Returns the counts of the requested release, or of all releases. */
function countsIn(releases: Readonly<Record<string, number>>, wanted: string | undefined) {
  const kept = Object.entries(releases).filter(([label]) => wanted === undefined || label === wanted);
  return { count: kept.reduce((sum, [, count]) => sum + count, 0), releases: Object.fromEntries(kept) };
}

const pairsOf = (flat: readonly (Buffer | number)[]): [string, number][] =>
  Array.from({ length: flat.length / 2 }, (_, index) => [String(flat[2 * index]), Number(flat[2 * index + 1])]);

/** Adds up traffic counts by operation and release. */
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

/** Splits a text at its first line break. The second part may contain more line breaks. */
function splitOnce(text: string): readonly string[] {
  const at = text.indexOf('\n');
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

/** The counts of one replica. */
interface ReplicaCounts {
  readonly traffic: ReturnType<typeof createTrafficSums>;
  /** The number of occurrences by release, for each fingerprint. */
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
 * Returns an entry with the counts of one replica. The callers, samples and history remain those of the whole fleet.
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
    lastSeenAt: Number(lastSeenAt),
    requests,
    violations,
  };
}

// The keys of a ledger, all of which begin with `base`, the key that the scripts receive:
//
//   base                    hash: epoch, callerKey, dropped, bytes, before, tidied, lostAt
//   base:w:WRITER           the number of the last batch of a process
//   base:e:FINGERPRINT      hash: facts, first, last, callers, samples, size, hour, and a count for each `hHOUR|RELEASE`
//   base:seen:DIRECTION     sorted set: fingerprints by their last occurrence
//   base:rules              hash: the operation and the keyword of each fingerprint
//   base:t:DAY              hash: a count for each `HOUR \n OPERATION \n NAME \n RELEASE`
//   base:days               hash: the estimated size of the traffic of each day
//   base:releases           sorted set: release labels by their last batch
//   base:replicas           sorted set: replicas by their last batch
//   base:replica-releases   hash: the latest release of each replica
//   base:r:REPLICA:HOUR     hash: requests, violations, and a count for each
//                           `v \n FINGERPRINT \n RELEASE` and `t \n OPERATION \n NAME \n RELEASE`
//
// `base` is in braces, so all keys are on the same node of a cluster.

/** The time for which the counts of a single replica are stored, in hours. */
const REPLICA_HOURS = 48;

/**
 * The number of replicas whose counts are stored. If there are more, those that were seen least recently are removed.
 */
export const MAX_REPLICAS = 200;

/**
 * Adds a batch. A script is atomic, and if the memory is full, Redis refuses the script before its first write. A batch
 * is therefore stored completely or not at all. A batch that has already been stored is not added again, even if the
 * server receives a delayed copy of it after a later batch of the same process.
 */
const WRITE_BATCH: RedisScript = {
  source: `
local base = KEYS[1]
local batch = cjson.decode(ARGV[1])
local epoch, callerKey, before, tidied = unpack(redis.call('HMGET', base, 'epoch', 'callerKey', 'before', 'tidied'))
local function seen(direction) return base .. ':seen:' .. direction end
local function count() return redis.call('ZCARD', seen('request')) + redis.call('ZCARD', seen('response')) end

local writer = base .. ':w:' .. batch.writer
local last = redis.call('GET', writer)
if epoch and last and tonumber(last) >= batch.number then
  return {epoch, callerKey, count(), 0}
end
redis.call('SET', writer, batch.number, 'EX', 86400)

if not epoch then
  epoch, callerKey, before, tidied = batch.newEpoch, batch.callerKey, '0', '0'
  redis.call('HSET', base, 'epoch', epoch, 'callerKey', callerKey, 'dropped', 0, 'bytes', 0, 'before', 0, 'tidied', 0)
  if batch.epoch ~= '' then redis.call('HSET', base, 'lostAt', batch.at) end
end
before = tonumber(before)

local function whole(number) return string.format('%.0f', number) end
local function addBytes(bytes)
  if bytes ~= 0 then redis.call('HINCRBY', base, 'bytes', whole(bytes)) end
end

local function prune(key)
  for _, field in ipairs(redis.call('HKEYS', key)) do
    local hour = tonumber(string.match(field, '^h(%d+)|'))
    if hour and hour < before then redis.call('HDEL', key, field) end
  end
end
local function measure(key, text)
  local size = 600 + text + 80 * redis.call('HLEN', key)
  addBytes(size - tonumber(redis.call('HGET', key, 'size') or 0))
  redis.call('HSET', key, 'size', size)
end
local function drop(direction, fingerprint)
  local key = base .. ':e:' .. fingerprint
  addBytes(-tonumber(redis.call('HGET', key, 'size') or 0))
  redis.call('UNLINK', key)
  redis.call('ZREM', seen(direction), fingerprint)
  redis.call('HDEL', base .. ':rules', fingerprint)
end
local function dropSeenBefore(instant)
  local dropped = 0
  for _, direction in ipairs({'request', 'response'}) do
    for _, fingerprint in ipairs(redis.call('ZRANGEBYSCORE', seen(direction), '-inf', '(' .. whole(instant))) do
      drop(direction, fingerprint)
      dropped = dropped + 1
    end
  end
  return dropped
end
local function dropDaysBefore(day)
  local dropped = 0
  for _, one in ipairs(redis.call('HKEYS', base .. ':days')) do
    if tonumber(one) < day then
      dropped = dropped + redis.call('HLEN', base .. ':t:' .. one)
      redis.call('UNLINK', base .. ':t:' .. one)
      addBytes(-tonumber(redis.call('HGET', base .. ':days', one)))
      redis.call('HDEL', base .. ':days', one)
    end
  end
  return dropped
end
local function ofReplica(hour, counts)
  local key = base .. ':r:' .. batch.replica .. ':' .. whole(hour)
  for field, added in pairs(counts) do redis.call('HINCRBY', key, field, added) end
  redis.call('EXPIRE', key, ${(REPLICA_HOURS + 1) * 3600})
end

for _, entry in ipairs(batch.entries) do
  local key = base .. ':e:' .. entry.fingerprint
  local callers, stored, first, latest, hour = unpack(redis.call('HMGET', key, 'callers', 'samples', 'first', 'last', 'hour'))
  callers = callers or string.rep('\\0', 256)
  -- Positions that were computed with another key would count the same callers twice.
  if callerKey == batch.callerKey then
    for _, place in ipairs(entry.callers) do
      local at = math.floor(place / 8) + 1
      local marked = bit.bor(string.byte(callers, at), bit.lshift(1, place % 8))
      callers = string.sub(callers, 1, at - 1) .. string.char(marked) .. string.sub(callers, at + 1)
    end
  end
  local samples = {}
  for line in string.gmatch(stored or '', '[^\\n]+') do table.insert(samples, line) end
  for _, sample in ipairs(entry.samples) do table.insert(samples, sample) end
  local shown = table.concat(samples, '\\n', math.max(1, #samples - batch.maxSamples + 1))
  latest = math.max(entry.last, tonumber(latest or 0))
  redis.call('HSET', key, 'facts', entry.facts, 'callers', callers, 'samples', shown, 'hour', batch.hour,
    'first', whole(math.min(entry.first, tonumber(first or entry.first))), 'last', whole(latest))
  for _, one in ipairs(entry.hours) do
    redis.call('HINCRBY', key, 'h' .. whole(one[1]) .. '|' .. batch.release, one[2])
    ofReplica(one[1], {violations = one[2], ['v\\n' .. entry.fingerprint .. '\\n' .. batch.release] = one[2]})
  end
  if hour and tonumber(hour) ~= batch.hour then prune(key) end
  measure(key, #entry.facts + #shown)
  redis.call('ZADD', seen(entry.direction), whole(latest), entry.fingerprint)
  redis.call('HSET', base .. ':rules', entry.fingerprint, entry.rule)
end

local days = {}
for _, row in ipairs(batch.traffic) do
  local day = whole(math.floor(row.hour / 24))
  days[day] = true
  local counts = {}
  for name, added in pairs(row.counts) do
    local field = row.operation .. '\\n' .. name .. '\\n' .. batch.release
    redis.call('HINCRBY', base .. ':t:' .. day, whole(row.hour) .. '\\n' .. field, added)
    counts['t\\n' .. field] = added
    if name == 'requests' then counts.requests = added end
  end
  ofReplica(row.hour, counts)
end
for day in pairs(days) do
  local size = 100 * redis.call('HLEN', base .. ':t:' .. day)
  addBytes(size - tonumber(redis.call('HGET', base .. ':days', day) or 0))
  redis.call('HSET', base .. ':days', day, size)
end

redis.call('ZADD', base .. ':releases', 'GT', whole(batch.at), batch.release)
redis.call('ZADD', base .. ':replicas', 'GT', whole(batch.at), batch.replica)
redis.call('HSET', base .. ':replica-releases', batch.replica, batch.release)
for _, name in ipairs(redis.call('ZRANGE', base .. ':replicas', 0, -${MAX_REPLICAS + 1})) do
  redis.call('ZREM', base .. ':replicas', name)
  redis.call('HDEL', base .. ':replica-releases', name)
  for hour = batch.hour - ${REPLICA_HOURS}, batch.hour do redis.call('UNLINK', base .. ':r:' .. name .. ':' .. whole(hour)) end
end

if tonumber(tidied) ~= batch.hour then
  dropSeenBefore(batch.retainedSince)
  before = math.max(before, math.floor(batch.retainedSince / 3600000))
  dropDaysBefore(math.floor(before / 24))
  redis.call('ZREMRANGEBYSCORE', base .. ':releases', '-inf', '(' .. whole(batch.retainedSince))
  redis.call('HSET', base, 'before', whole(before), 'tidied', batch.hour)
end

local removed = 0
-- The entries are ranked within their rule, so invented names displace only other invented names.
local function evict(direction, number)
  if number <= 0 then return end
  local ranks, placed, rules = {}, {}, {}
  local flat = redis.call('HGETALL', base .. ':rules')
  for i = 1, #flat, 2 do rules[flat[i]] = flat[i + 1] end
  for age, fingerprint in ipairs(redis.call('ZREVRANGE', seen(direction), 0, -1)) do
    local rule = rules[fingerprint] or ''
    ranks[rule] = (ranks[rule] or 0) + 1
    placed[age] = {fingerprint, ranks[rule], age}
  end
  table.sort(placed, function(a, b) if a[2] ~= b[2] then return a[2] > b[2] end return a[3] > b[3] end)
  for i = 1, math.min(number, #placed) do
    drop(direction, placed[i][1])
    removed = removed + 1
  end
end
for _, direction in ipairs({'request', 'response'}) do
  evict(direction, redis.call('ZCARD', seen(direction)) - batch.share)
end

-- Old hours are removed first, because old counts matter less than violations.
for _ = 1, 100 do
  if tonumber(redis.call('HGET', base, 'bytes')) <= batch.maxBytes then break end
  local oldest, newest
  for _, one in ipairs(redis.call('HKEYS', base .. ':days')) do
    local day = tonumber(one)
    if not oldest or day < oldest then oldest = day end
    if not newest or day > newest then newest = day end
  end
  if oldest and oldest < newest then
    before = math.max(before, (oldest + 1) * 24)
    removed = removed + dropDaysBefore(oldest + 1) + dropSeenBefore(before * 3600000)
    for _, direction in ipairs({'request', 'response'}) do
      for _, fingerprint in ipairs(redis.call('ZRANGE', seen(direction), 0, -1)) do
        local key = base .. ':e:' .. fingerprint
        prune(key)
        measure(key, redis.call('HSTRLEN', key, 'facts') + redis.call('HSTRLEN', key, 'samples'))
      end
    end
    redis.call('HSET', base, 'before', whole(before))
  elseif count() > 0 then
    for _, direction in ipairs({'request', 'response'}) do
      evict(direction, math.ceil(redis.call('ZCARD', seen(direction)) / 4))
    end
  else
    break
  end
end

redis.call('HINCRBY', base, 'dropped', removed + batch.dropped)
return {epoch, callerKey, count(), removed}`,
};

/** Returns the data that a reader needs before it can read the entries and the traffic in parts. */
const READ_INDEX: RedisScript = {
  source: `
local base = KEYS[1]
local since, hour = tonumber(ARGV[1]), tonumber(ARGV[2])
local replicas = {}
for _, name in ipairs(redis.call('ZREVRANGE', base .. ':replicas', 0, -1)) do
  local requests, violations = 0, 0
  for at = math.max(since, hour - ${REPLICA_HOURS}), hour do
    local counts = redis.call('HMGET', base .. ':r:' .. name .. ':' .. string.format('%.0f', at), 'requests', 'violations')
    requests = requests + tonumber(counts[1] or 0)
    violations = violations + tonumber(counts[2] or 0)
  end
  table.insert(replicas, {name, redis.call('HGET', base .. ':replica-releases', name) or '',
    redis.call('ZSCORE', base .. ':replicas', name), requests, violations})
end
return {
  redis.call('HMGET', base, 'dropped', 'before', 'lostAt'),
  redis.call('ZRANGE', base .. ':releases', 0, -1),
  redis.call('ZREVRANGE', base .. ':seen:request', 0, -1),
  redis.call('ZREVRANGE', base .. ':seen:response', 0, -1),
  redis.call('HKEYS', base .. ':days'),
  replicas,
}`,
};

/** Returns entries with their counts by release and, if the current hour is given, with their history. */
const READ_ENTRIES: RedisScript = {
  source: `
local since, hour = tonumber(ARGV[1]), tonumber(ARGV[2])
local found = {}
for i = 3, #ARGV do
  local fields = redis.call('HGETALL', KEYS[1] .. ':e:' .. ARGV[i])
  local own, sums, recent, firstHour, firstRelease = {}, {}, {}, nil, ''
  for j = 1, #fields, 2 do
    local at, release = string.match(fields[j], '^h(%d+)|(.*)$')
    if at then
      local number = tonumber(fields[j + 1])
      at = tonumber(at)
      if at >= since then sums[release] = (sums[release] or 0) + number end
      if hour then
        if at > hour - 24 and at <= hour then recent[hour - at] = (recent[hour - at] or 0) + number end
        if not firstHour or at < firstHour then firstHour, firstRelease = at, release end
      end
    else
      own[fields[j]] = fields[j + 1]
    end
  end
  if own.facts then
    local releases, history = {}, {}
    for release, sum in pairs(sums) do
      table.insert(releases, release)
      table.insert(releases, sum)
    end
    if hour then for ago = 23, 0, -1 do table.insert(history, recent[ago] or 0) end end
    table.insert(found, {own.facts, own.first, own.last, own.callers, own.samples, releases, history, firstRelease})
  end
end
return found`,
};

/**
 * The end of a script that has added up counts in the table `sums`. It returns the table as a flat list of names and
 * sums.
 */
const FLAT_SUMS = `
local found = {}
for name, sum in pairs(sums) do
  table.insert(found, name)
  table.insert(found, sum)
end
return found`;

/** Returns the traffic of one day as a flat list of operation, name, release and count. */
const READ_TRAFFIC: RedisScript = {
  source: `
local since = tonumber(ARGV[2])
local sums = {}
local fields = redis.call('HGETALL', KEYS[1] .. ':t:' .. ARGV[1])
for i = 1, #fields, 2 do
  local hour, rest = string.match(fields[i], '^(%d+)\\n(.*)$')
  if tonumber(hour) >= since then sums[rest] = (sums[rest] or 0) + tonumber(fields[i + 1]) end
end
${FLAT_SUMS}`,
};

/** Returns the counts of one replica for a range of hours, as a flat list of fields and counts. */
const READ_REPLICA: RedisScript = {
  source: `
local sums = {}
for hour = tonumber(ARGV[2]), tonumber(ARGV[3]) do
  local fields = redis.call('HGETALL', KEYS[1] .. ':r:' .. ARGV[1] .. ':' .. string.format('%.0f', hour))
  for i = 1, #fields, 2 do sums[fields[i]] = (sums[fields[i]] or 0) + tonumber(fields[i + 1]) end
end
${FLAT_SUMS}`,
};
