import { createClient, RESP_TYPES } from '@redis/client';

/** A text, or bytes that are not UTF-8, in base64 after `base64:`. */
type Text = string;

/** What a Redis server contains: each key with its type, the rest of its life in milliseconds (-1: forever) and its value. */
export type Contents = readonly {
  readonly key: Text;
  readonly type: string;
  readonly ms: number;
  /** Of a stream, each entry as `[id, field, value, …]`; of a hash and of a sorted set, pairs; otherwise, the members. */
  readonly value: readonly (readonly Text[])[];
}[];

const MARK = 'base64:';
const toText = (bytes: Buffer): Text => {
  const text = bytes.toString();
  return Buffer.from(text).equals(bytes) ? text : MARK + bytes.toString('base64');
};
const toBytes = (text: Text): Buffer =>
  text.startsWith(MARK) ? Buffer.from(text.slice(MARK.length), 'base64') : Buffer.from(text);

/** Connects to a server, and passes a function that sends a command to `use`. Replies contain bytes. */
async function connected<T>(url: string, use: (ask: (...args: Text[]) => Promise<unknown>) => Promise<T>): Promise<T> {
  const client = await createClient({ url, RESP: 2 }).connect();
  const typed = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer, [RESP_TYPES.SIMPLE_STRING]: String });
  try {
    return await use((...args) => typed.sendCommand(args.map(toBytes)));
  } finally {
    client.destroy();
  }
}

/** The command that returns all of a value, by type. */
const READ: Readonly<Record<string, (key: Text) => Text[]>> = {
  string: (key) => ['GET', key],
  hash: (key) => ['HGETALL', key],
  set: (key) => ['SMEMBERS', key],
  zset: (key) => ['ZRANGE', key, '0', '-1', 'WITHSCORES'],
  list: (key) => ['LRANGE', key, '0', '-1'],
  stream: (key) => ['XRANGE', key, '-', '+'],
};

const inPairs = (flat: readonly Text[]) =>
  flat.flatMap((one, index) => (index % 2 === 0 ? [[one, flat[index + 1] ?? '']] : []));

function valueOf(type: string, reply: unknown): readonly (readonly Text[])[] {
  if (type === 'stream') return (reply as [Buffer, Buffer[]][]).map(([id, fields]) => [id].concat(fields).map(toText));
  const all = [reply].flat().map((one) => toText(one as Buffer));
  return type === 'hash' || type === 'zset' ? inPairs(all) : all.map((one) => [one]);
}

/** Returns everything that a server contains, sorted by key. */
export const readContents = (url: string): Promise<Contents> =>
  connected(url, async (ask) => {
    const keys = ((await ask('KEYS', '*')) as Buffer[]).map(toText).toSorted();
    const contents: Contents[number][] = [];
    for (const key of keys) {
      const type = String(await ask('TYPE', key));
      const ms = Number(await ask('PTTL', key));
      contents.push({ key, type, ms, value: valueOf(type, await ask(...(READ[type]?.(key) ?? []))) });
    }
    return contents;
  });

/** Writes contents into a server. */
export const writeContents = (url: string, contents: Contents): Promise<void> =>
  connected(url, async (ask) => {
    for (const { key, type, ms, value } of contents) {
      const flat = value.flat();
      if (type === 'stream') for (const entry of value) await ask('XADD', key, ...entry);
      else if (type === 'string') await ask('SET', key, ...flat);
      else if (type === 'hash') await ask('HSET', key, ...flat);
      else if (type === 'set') await ask('SADD', key, ...flat);
      else if (type === 'list') await ask('RPUSH', key, ...flat);
      else await ask('ZADD', key, ...value.flatMap(([member = '', score = '']) => [score, member]));
      if (ms >= 0) await ask('PEXPIRE', key, String(ms));
    }
  });
