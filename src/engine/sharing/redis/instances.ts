import { randomUUID } from 'node:crypto';
import { isPlainObject } from '../../../lib/plain-object.ts';
import { type Redis, type RedisScript, untilAvailable } from './connect-redis.ts';
import type { Instance, InstanceFacts, Instances } from '../sharing.ts';

const BEAT_MS = 5_000;
/** The retry interval until a report succeeds. The first report waits at most this long for the connection. */
const FIRST_BEAT_MS = 500;
/** A gateway that has not reported for this long is considered gone. */
const GONE_SECONDS = 15;

/** Stores the facts with a timestamp from the server, because the gateways' clocks may differ. */
const BEAT: RedisScript = {
  source: `
local now = tonumber(redis.call('TIME')[1])
local list = redis.call('HGETALL', KEYS[1])
local found = {}
for i = 1, #list, 2 do
  local at = tonumber(string.match(list[i + 1], '^%d+'))
  if at and at >= now - ${GONE_SECONDS} and list[i] ~= ARGV[1] and #found < 2000 then
    table.insert(found, now - at)
    table.insert(found, string.match(list[i + 1], '\\n(.*)$') or '')
  else redis.call('HDEL', KEYS[1], list[i]) end
end
redis.call('HSET', KEYS[1], ARGV[1], now .. '\\n' .. ARGV[2])
return found`,
};

const TEXTS = ['name', 'version', 'release', 'mode', 'contract', 'configuration', 'baseline'] as const;

/** Returns undefined if the text is not a gateway's report, because another program may have written it. */
function toFacts(text: string): InstanceFacts | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (!isPlainObject(value)) return undefined;
    const isKnown =
      TEXTS.every((name) => typeof value[name] === 'string') &&
      Number.isFinite(value['startedAt']) &&
      typeof value['ready'] === 'boolean';
    return isKnown ? (value as unknown as InstanceFacts) : undefined;
  } catch {
    return undefined;
  }
}

/** The list of gateways in Redis. */
interface RedisInstances extends Instances {
  /** Removes this gateway from the list. */
  close(): Promise<void>;
}

/** Opens the list of gateways that share a Redis server and use the same key prefix. */
export function openInstances(redis: Redis): RedisInstances {
  const key = redis.key('fleet', 'instances');
  const id = randomUUID();
  let others: readonly Instance[] = [];
  let own: (() => InstanceFacts) | undefined;
  let heardAt = -Infinity;
  let timer: NodeJS.Timeout | undefined;
  const beat = async () => {
    if (own === undefined) return;
    try {
      const reply = (await redis.run(BEAT, [key], [id, JSON.stringify(own())])) as (number | string)[];
      others = Array.from({ length: reply.length / 2 }, (_, index) => {
        const facts = toFacts(String(reply[2 * index + 1]));
        return facts && { ...facts, silentSeconds: Number(reply[2 * index]) };
      }).filter((one) => one !== undefined);
      heardAt = performance.now();
    } catch {
      // A failed report is ignored, because the next one follows soon.
    }
  };
  const keepReporting = async () => {
    await beat();
    if (own === undefined) return;
    timer = setTimeout(() => void keepReporting(), heardAt === -Infinity ? FIRST_BEAT_MS : BEAT_MS).unref();
  };
  return {
    start(facts) {
      own = facts;
      void untilAvailable(redis, FIRST_BEAT_MS).then(keepReporting);
    },
    list() {
      if (own === undefined || performance.now() - heardAt > GONE_SECONDS * 1000) return [];
      return [...others, { ...own(), silentSeconds: 0 }].toSorted((a, b) => (a.name < b.name ? -1 : 1));
    },
    async close() {
      clearTimeout(timer);
      if (own === undefined) return;
      own = undefined;
      await redis.command(key, ['HDEL', key, id]).catch(() => undefined);
    },
  };
}
