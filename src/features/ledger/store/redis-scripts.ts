import { STORED_RELEASES } from '../../../engine/model/release-statistics.ts';
import type { RedisScript } from '../../../engine/sharing/redis/connect-redis.ts';

// The keys of a ledger, all of which begin with `base`, the key that the scripts receive:
//
//   base                    hash: epoch, callerKey, dropped, bytes, before, tidied, lostAt
//   base:w:WRITER           the number of the last batch of a process
//   base:e:FINGERPRINT      hash: facts, first, last, callers, samples, size, hour, and a count for each `hHOUR|RELEASE`
//   base:seen:DIRECTION     sorted set: fingerprints by their last occurrence
//   base:rules              hash: the operation and the keyword of each fingerprint
//   base:t:DAY              hash: a count for each `HOUR \n OPERATION \n NAME \n RELEASE`
//   base:days               hash: the estimated size of the traffic of each day
//   base:s:RELEASE          hash: the statistics of a release, a count for each `OPERATION \n NAME`
//   base:releases           sorted set: release labels by their last batch
//   base:replicas           sorted set: replicas by their last batch
//   base:replica-releases   hash: the latest release of each replica
//   base:r:REPLICA:HOUR     hash: requests, violations, and a count for each
//                           `v \n FINGERPRINT \n RELEASE` and `t \n OPERATION \n NAME \n RELEASE`
//
// `base` is in braces, so all keys are on the same node in a cluster.

/** How long the counts of a single replica are stored, in hours. */
export const REPLICA_HOURS = 48;

/**
 * The maximum number of replicas whose counts are stored. If it is exceeded, the counts of the least recently seen
 * replicas are removed.
 */
export const MAX_REPLICAS = 200;

/**
 * Creates the ledger if it does not exist yet. Returns all stored fingerprints and the shared key for hashing callers.
 */
export const OPEN: RedisScript = {
  source: `
local base = KEYS[1]
if redis.call('HSETNX', base, 'epoch', ARGV[2]) == 1 then
  redis.call('HSET', base, 'callerKey', ARGV[1], 'dropped', 0, 'bytes', 0, 'before', 0, 'tidied', 0)
end
return {redis.call('HGET', base, 'callerKey'), redis.call('ZRANGE', base .. ':seen:request', 0, -1),
  redis.call('ZRANGE', base .. ':seen:response', 0, -1)}`,
};

/**
 * Adds a batch. Scripts are atomic, and if the memory is full, Redis refuses a script before its first write, so a
 * batch is stored completely or not at all. A batch that is already stored is not added again, even when a delayed copy
 * of it arrives after a later batch from the same process.
 */
export const WRITE_BATCH: RedisScript = {
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
    ofReplica(one[1], {violations = one[2] * entry.violation, ['v\\n' .. entry.fingerprint .. '\\n' .. batch.release] = one[2]})
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
for _, row in ipairs(batch.statistics) do
  for name, added in pairs(row.counts) do
    redis.call('HINCRBY', base .. ':s:' .. batch.release, row.operation .. '\\n' .. name, added)
  end
end
for _, label in ipairs(redis.call('ZRANGE', base .. ':releases', 0, -${STORED_RELEASES + 1})) do
  redis.call('UNLINK', base .. ':s:' .. label)
end
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
  for _, label in ipairs(redis.call('ZRANGEBYSCORE', base .. ':releases', '-inf', '(' .. whole(batch.retainedSince))) do
    redis.call('UNLINK', base .. ':s:' .. label)
  end
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

/**
 * The functions with which the scripts for readers read. Another program may have written to the keys: a value of the
 * wrong kind counts as absent, and a text that is not a finite number as 0.
 */
const READING = `
local function list(...)
  local reply = redis.pcall(...)
  return reply.err and {} or reply
end
local function number(text)
  local value = tonumber(text or 0)
  if not value or value ~= value or value < 0 or value > 9007199254740991 then return 0 end
  return math.floor(value)
end`;

/** Returns the data that a reader needs before it reads the entries and the traffic in parts. */
export const READ_INDEX: RedisScript = {
  source: `
local base = KEYS[1]
local since, hour = tonumber(ARGV[1]), tonumber(ARGV[2])
${READING}
local replicas = {}
for _, name in ipairs(list('ZREVRANGE', base .. ':replicas', 0, -1)) do
  local requests, violations = 0, 0
  for at = math.max(since, hour - ${REPLICA_HOURS}), hour do
    local counts = list('HMGET', base .. ':r:' .. name .. ':' .. string.format('%.0f', at), 'requests', 'violations')
    requests = requests + number(counts[1])
    violations = violations + number(counts[2])
  end
  table.insert(replicas, {name, list('HMGET', base .. ':replica-releases', name)[1] or '',
    redis.call('ZSCORE', base .. ':replicas', name), requests, violations})
end
return {
  list('HMGET', base, 'dropped', 'before', 'lostAt'),
  list('ZRANGE', base .. ':releases', 0, -1),
  list('ZREVRANGE', base .. ':seen:request', 0, -1),
  list('ZREVRANGE', base .. ':seen:response', 0, -1),
  list('HKEYS', base .. ':days'),
  replicas,
}`,
};

/** Returns entries with their counts by release and, if the current hour is given, their history. */
export const READ_ENTRIES: RedisScript = {
  source: `
local since, hour = tonumber(ARGV[1]), tonumber(ARGV[2])
${READING}
local found = {}
for i = 3, #ARGV do
  local fields = list('HGETALL', KEYS[1] .. ':e:' .. ARGV[i])
  local own, sums, recent, firstHour, firstRelease = {}, {}, {}, nil, ''
  for j = 1, #fields, 2 do
    local at, release = string.match(fields[j], '^h(%d+)|(.*)$')
    if at then
      local added = number(fields[j + 1])
      at = tonumber(at)
      if at >= since then sums[release] = (sums[release] or 0) + added end
      if hour then
        if at > hour - 24 and at <= hour then recent[hour - at] = (recent[hour - at] or 0) + added end
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
    table.insert(found, {own.facts, own.first or '', own.last or '', own.callers or '', own.samples or '',
      releases, history, firstRelease})
  end
end
return found`,
};

/**
 * The end of every script that adds up counts in the `sums` table. This code returns the table as a flat list of names
 * and totals.
 */
const FLAT_SUMS = `
local found = {}
for name, sum in pairs(sums) do
  table.insert(found, name)
  table.insert(found, sum)
end
return found`;

/** Returns the traffic for one day as a flat list of operation, name, release and count. */
export const READ_TRAFFIC: RedisScript = {
  source: `
local since = tonumber(ARGV[2])
${READING}
local sums = {}
local fields = list('HGETALL', KEYS[1] .. ':t:' .. ARGV[1])
for i = 1, #fields, 2 do
  local hour, rest = string.match(fields[i], '^(%d+)\\n(.*)$')
  if hour and tonumber(hour) >= since then sums[rest] = (sums[rest] or 0) + number(fields[i + 1]) end
end
${FLAT_SUMS}`,
};

/** Returns the statistics of one release as a flat list of names and counts. */
export const READ_STATISTICS: RedisScript = {
  source: `return redis.call('HGETALL', KEYS[1] .. ':s:' .. ARGV[1])`,
};

/** Returns one replica's counts for a range of hours, as a flat list of fields and counts. */
export const READ_REPLICA: RedisScript = {
  source: `
${READING}
local sums = {}
for hour = tonumber(ARGV[2]), tonumber(ARGV[3]) do
  local fields = list('HGETALL', KEYS[1] .. ':r:' .. ARGV[1] .. ':' .. string.format('%.0f', hour))
  for i = 1, #fields, 2 do sums[fields[i]] = (sums[fields[i]] or 0) + number(fields[i + 1]) end
end
${FLAT_SUMS}`,
};
