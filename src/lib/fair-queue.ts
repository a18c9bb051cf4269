/**
 * A queue that serves its clients in turn, so that a client with many waiting items delays only itself. Each client's
 * items stay in order.
 */
interface FairQueue<T> {
  /** The number of waiting items. */
  readonly size: number;
  add(client: string, item: T): void;
  remove(client: string, item: T): void;
  /**
   * Removes and returns the next item: the first item of the client that has waited longest for its turn. Clients for
   * which `mayServe` returns false are skipped but keep their turn.
   */
  next(mayServe?: (client: string) => boolean): T | undefined;
  /**
   * Makes room for an item of this client in a full queue. Removes and returns the last item of the client with the
   * most waiting items. Returns undefined if this client, including the new item, would have at least as many waiting
   * items as that client.
   */
  displace(client: string): T | undefined;
}

/** Creates an empty queue. */
export function createFairQueue<T>(): FairQueue<T> {
  // The waiting items of each client. The client whose turn is next comes first.
  const lines = new Map<string, Set<T>>();
  const remove = (client: string, line: Set<T>, item: T) => {
    if (line.delete(item)) queue.size -= 1;
    if (line.size === 0) lines.delete(client);
  };
  const queue = {
    size: 0,
    add(client: string, item: T) {
      const line = lines.get(client) ?? new Set();
      lines.set(client, line.add(item));
      queue.size += 1;
    },
    remove(client: string, item: T) {
      const line = lines.get(client);
      if (line !== undefined) remove(client, line, item);
    },
    next(mayServe?: (client: string) => boolean) {
      for (const [client, line] of lines) {
        if (mayServe?.(client) === false) continue;
        for (const item of line) {
          lines.delete(client);
          lines.set(client, line);
          remove(client, line, item);
          return item;
        }
      }
      return undefined;
    },
    displace(client: string) {
      let longest: readonly [string, Set<T>] | undefined;
      for (const entry of lines) if (longest === undefined || entry[1].size > longest[1].size) longest = entry;
      if (longest === undefined || (lines.get(client)?.size ?? 0) + 1 >= longest[1].size) return undefined;
      const last = [...longest[1]].at(-1);
      if (last !== undefined) remove(...longest, last);
      return last;
    },
  };
  return queue;
}
