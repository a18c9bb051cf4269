import { randomBytes } from 'node:crypto';
import type { Sharing } from '../../engine/sharing/sharing.ts';
import type { Redis, RedisReply, RedisScript } from '../../engine/sharing/redis/connect-redis.ts';
import type { FeedEvent } from './event.ts';
import { createListeners, type FeedStore, type StoreLimits } from './feed-store.ts';

/**
 * Replaces a document and adds events. KEYS: revisions, documents, events, meta. ARGV: document, revision, last number,
 * text, time, oldest time, maximum number of events, channel, events… Returns -1 if the document has another revision, -2
 * if the last number is another one, and 0 otherwise. An event is stored as its number, its time and its sealed text.
 */
const COMMIT: RedisScript = {
  source: `
local revision = tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or '0')
if revision ~= tonumber(ARGV[2]) then return -1 end
local last = tonumber(redis.call('HGET', KEYS[4], 'last') or '0')
if #ARGV > 8 and last ~= tonumber(ARGV[3]) then return -2 end
redis.call('HSET', KEYS[1], ARGV[1], revision + 1)
redis.call('HSET', KEYS[2], ARGV[1], ARGV[4])
if #ARGV <= 8 then return 0 end
for i = 9, #ARGV do
  last = last + 1
  redis.call('ZADD', KEYS[3], last, string.format('%d', last) .. ' ' .. ARGV[5] .. ' ' .. ARGV[i])
end
local removed = math.max(last - tonumber(ARGV[7]), tonumber(redis.call('HGET', KEYS[4], 'removed') or '0'))
for _, event in ipairs(redis.call('ZRANGE', KEYS[3], 0, 199)) do
  local number, time = string.match(event, '^(%d+) (%d+) ')
  if tonumber(time) < tonumber(ARGV[6]) then removed = math.max(removed, tonumber(number)) else break end
end
if removed > 0 then
  redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', removed)
  redis.call('HSET', KEYS[4], 'removed', string.format('%d', removed))
end
redis.call('HSET', KEYS[4], 'last', string.format('%d', last))
redis.call('PUBLISH', ARGV[8], 'new')
return 0`,
};

/** How often a change is tried again because another process has added events. */
const MAX_TRIES = 5;

const eventContext = (number: number) => `changes event ${number}`;

/** Opens the store that all gateways with the same Redis share. What it stores is sealed with the fleet's key. */
export function openRedisStore(redis: Redis, seal: Sharing['seal'], limits: StoreLimits): FeedStore {
  const at = (name: string) => redis.key('feed', name);
  const keys = { revisions: at('revisions'), documents: at('documents'), events: at('events'), meta: at('meta') };
  const { revisions, documents, events, meta } = keys;
  const listeners = createListeners();
  void redis.subscribe(at('told'), listeners.tell);
  const sealed = (context: string, text: string) => seal.seal(context, Buffer.from(text)).toString('base64');
  const opened = (context: string, text: string) => seal.open(context, Buffer.from(text, 'base64'))?.toString('utf8');
  const range = async () => {
    const [last, removed] = (await redis.command(meta, ['HMGET', meta, 'last', 'removed'])) as RedisReply[];
    return { last: Number(last ?? 0), removed: Number(removed ?? 0) };
  };
  /** Reads an event. What no gateway of the fleet has stored is left out. */
  const toEvent = (member: RedisReply): readonly FeedEvent[] => {
    const [digits = '', , text = ''] = String(member).split(' ', 3);
    const number = Number(digits);
    const json = opened(eventContext(number), text);
    return json === undefined ? [] : [{ ...(JSON.parse(json) as Omit<FeedEvent, 'number'>), number }];
  };
  const eventsIn = async (args: readonly string[]) =>
    ((await redis.command(events, [args[0] ?? '', events, ...args.slice(1)])) as RedisReply[]).flatMap(toEvent);
  return {
    async lineage() {
      await redis.command(meta, ['HSETNX', meta, 'lineage', randomBytes(4).toString('hex')]);
      return String(await redis.command(meta, ['HGET', meta, 'lineage']));
    },
    async read(document) {
      // The revision is read first: if the document changes in between, a change of it is refused.
      const revision = Number((await redis.command(revisions, ['HGET', revisions, document])) ?? 0);
      const stored = await redis.command(documents, ['HGET', documents, document]);
      if (typeof stored !== 'string') return undefined;
      // A text that no gateway of the fleet has stored counts as empty.
      return { text: opened(`changes document ${document}`, stored) ?? '', revision };
    },
    async commit({ document, revision, text, events: added, at: time }) {
      for (let tries = 0; tries < MAX_TRIES; tries += 1) {
        const { last } = added.length === 0 ? { last: 0 } : await range();
        const members = added.map((event, index) =>
          sealed(eventContext(last + 1 + index), JSON.stringify({ ...event, at: time })),
        );
        const head = [document, String(revision), String(last), sealed(`changes document ${document}`, text)];
        const bounds = [
          String(time),
          String(Math.round(time - limits.retentionMs)),
          String(limits.maxEvents),
          at('told'),
        ];
        const result = Number(await redis.run(COMMIT, Object.values(keys), [...head, ...bounds, ...members]));
        if (result === -2) continue;
        // Messages of Redis can be lost, even to those who have caused them.
        if (result === 0 && added.length > 0) listeners.tell();
        return result === 0;
      }
      return false;
    },
    after: (number, max) => eventsIn(['ZRANGEBYSCORE', `(${number}`, '+inf', 'LIMIT', '0', String(max)]),
    async latest(source, max) {
      const found = await eventsIn(['ZREVRANGEBYSCORE', '+inf', '-inf', 'LIMIT', '0', String(max * LATEST_FACTOR)]);
      return found.filter((event) => event.source === source).slice(0, max);
    },
    range,
    onEvents: listeners.add,
    close: () => undefined,
  };
}

/** How many of the latest events are searched for those of one source, per wanted event. */
const LATEST_FACTOR = 20;
