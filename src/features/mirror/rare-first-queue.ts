/** What a queue must know of what waits in it. */
export interface Waiting {
  readonly operation: string;
  /** The size of the response that is kept, in bytes. */
  readonly bytes: number;
}

/** Things that wait for their turn. Those of the operations that have been compared least come first. */
export interface RareFirstQueue<Item extends Waiting> {
  /** Adds an item. Returns those that had to make room, which may be the item itself. */
  add(item: Item): readonly Item[];
  take(): Item | undefined;
  readonly size: number;
}

/** Creates an empty queue with limits. `comparedOf` returns how often an operation has been compared. */
export function createRareFirstQueue<Item extends Waiting>(
  limits: { readonly exchanges: number; readonly bytes: number },
  comparedOf: (operation: string) => number,
): RareFirstQueue<Item> {
  let waiting: Item[] = [];
  let bytes = 0;
  /** Returns the index of the most frequent operation's latest item, or of the rarest operation's first one. */
  const find = (isBetter: (count: number, best: number) => boolean) => {
    let [best, at] = [comparedOf(waiting[0]?.operation ?? ''), 0];
    waiting.forEach(({ operation }, index) => {
      const count = comparedOf(operation);
      if (isBetter(count, best)) [best, at] = [count, index];
    });
    return at;
  };
  const remove = (at: number): Item | undefined => {
    const item = waiting[at];
    if (item === undefined) return undefined;
    waiting = waiting.toSpliced(at, 1);
    bytes -= item.bytes;
    return item;
  };
  return {
    add(item) {
      waiting.push(item);
      bytes += item.bytes;
      const dropped: Item[] = [];
      while (waiting.length > limits.exchanges || bytes > limits.bytes) {
        const one = remove(find((count, best) => count >= best));
        if (one === undefined) break;
        dropped.push(one);
      }
      return dropped;
    },
    take: () => remove(find((count, best) => count < best)),
    get size() {
      return waiting.length;
    },
  };
}
