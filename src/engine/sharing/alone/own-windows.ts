import { hash } from 'node:crypto';
import type { Clock } from '../../../lib/clock.ts';
import { createLruMap } from '../../../lib/bounded-maps.ts';
import type { EventWindow, SlidingWindows, WindowEvent } from '../sharing.ts';

/** The members of a window, each with the time of its latest event, in order of these times. */
type Members = Map<string, number>;

/** The windows of one name. */
interface Table {
  /** In order of use. The most recently used window is last. None is empty. */
  readonly windows: Map<string, Members>;
  /** The number of members of all windows. */
  members: number;
}

/** Windows whose results are there at once. */
interface OwnWindows extends SlidingWindows {
  add(...event: Parameters<SlidingWindows['add']>): WindowEvent;
}

/**
 * Creates windows that count only the events of this process. A table has at most `max` windows or, if its windows count
 * other windows, `max` members. Beyond that, the least recently used window is forgotten. What refuses an event counts
 * as a use, so whoever keeps trying is not forgotten. A refused event adds no window, so it displaces nothing.
 */
export function createOwnWindows(clock: Clock, max: number): OwnWindows {
  const tables = new Map<string, Table>();
  const trustedUntil = createLruMap<string, number>(max);
  let events = 0;

  const tableOf = (name: string): Table => {
    const table = tables.get(name) ?? { windows: new Map<string, Members>(), members: 0 };
    tables.set(name, table);
    return table;
  };
  const remove = (table: Table, key: string, member: string) => {
    const members = table.windows.get(key);
    if (members?.delete(member) !== true) return;
    table.members -= 1;
    if (members.size === 0) table.windows.delete(key);
  };
  /** Notes that a window is used, and removes the members that are too old. */
  const use = (table: Table, key: string, since: number): ReadonlyMap<string, number> => {
    const members = table.windows.get(key);
    if (members === undefined) return new Map();
    table.windows.delete(key);
    table.windows.set(key, members);
    for (const [member, at] of members) if (at <= since) remove(table, key, member);
    return members;
  };
  const insert = (table: Table, key: string, member: string, now: number) => {
    const members = table.windows.get(key) ?? new Map<string, number>();
    table.windows.set(key, members);
    if (!members.delete(member)) table.members += 1;
    members.set(member, now);
  };
  const bound = (table: Table, size: () => number) => {
    for (const [oldest, members] of table.windows) {
      if (size() <= max) return;
      table.windows.delete(oldest);
      table.members -= members.size;
    }
  };

  return {
    add(given, windowMs) {
      const now = clock();
      events += 1;
      const id = String(events);
      const keys = new Map(given.map((window) => [window.name, keyOf(window)]));
      const keyIn = (name: string) => keys.get(name) ?? '';
      const windows = given.map(({ name, limit, counts, unlessTrusted }) => {
        const [table, key] = [tableOf(name), keyIn(name)];
        const member = counts === undefined ? id : keyIn(counts);
        const members = use(table, key, now - windowMs);
        return { table, key, limit, counts, unlessTrusted, member, members };
      });
      const trust = (name: string, ms: number) => {
        trustedUntil.set(`${name} ${keyIn(name)}`, clock() + ms);
      };
      const isTrusted = (name: string) => (trustedUntil.get(`${name} ${keyIn(name)}`) ?? -Infinity) > now;
      for (const { limit, unlessTrusted, member, members } of windows) {
        if (members.size < limit || members.has(member)) continue;
        if (unlessTrusted !== undefined && isTrusted(unlessTrusted)) continue;
        const decisive = [...members.values()].at(-limit) ?? now;
        return { waitMs: Math.max(1, decisive + windowMs - now), withdraw: () => undefined, trust };
      }
      for (const { table, key, limit, counts, member } of windows) {
        insert(table, key, member, now);
        for (const [oldest] of table.windows.get(key) ?? [])
          if ((table.windows.get(key)?.size ?? 0) > limit) remove(table, key, oldest);
        bound(table, counts === undefined ? () => table.windows.size : () => table.members);
      }
      const withdraw = () => {
        for (const { table, key, counts } of windows) if (counts === undefined) remove(table, key, id);
        for (const { table, key, counts, member } of windows)
          if (counts !== undefined && !tableOf(counts).windows.has(member)) remove(table, key, member);
      };
      return {
        waitMs: 0,
        withdraw,
        trust(name, ms) {
          withdraw();
          trust(name, ms);
        },
      };
    },
  };
}

/** Returns a key of bounded size, however long the texts are. */
const keyOf = ({ texts }: EventWindow) => hash('sha256', JSON.stringify(texts), 'base64url');
