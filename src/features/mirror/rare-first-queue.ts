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
  // With one list for each operation, a choice costs as much as there are operations, however many items wait.
  const lists = new Map<string, { readonly item: Item; readonly number: number }[]>();
  let numbers = 0;
  let size = 0;
  let bytes = 0;
  /** Returns the list of the operation that comes first in this order. */
  const first = (order: (a: string, b: string) => number) => {
    let found: string | undefined;
    for (const operation of lists.keys()) if (found === undefined || order(operation, found) < 0) found = operation;
    return found;
  };
  const numberAt = (operation: string, at: 0 | -1) => lists.get(operation)?.at(at)?.number ?? 0;
  const remove = (operation: string | undefined, isOldest: boolean): Item | undefined => {
    const list = lists.get(operation ?? '');
    const item = (isOldest ? list?.shift() : list?.pop())?.item;
    if (item === undefined) return undefined;
    if (list?.length === 0) lists.delete(item.operation);
    size -= 1;
    bytes -= item.bytes;
    return item;
  };
  return {
    add(item) {
      const list = lists.get(item.operation) ?? [];
      lists.set(item.operation, list);
      list.push({ item, number: (numbers += 1) });
      size += 1;
      bytes += item.bytes;
      const dropped: Item[] = [];
      while (size > limits.exchanges || bytes > limits.bytes) {
        // The latest of those that were compared most.
        const most = first((a, b) => comparedOf(b) - comparedOf(a) || numberAt(b, -1) - numberAt(a, -1));
        const one = remove(most, false);
        if (one === undefined) break;
        dropped.push(one);
      }
      return dropped;
    },
    // The oldest of those that were compared least.
    take: () =>
      remove(
        first((a, b) => comparedOf(a) - comparedOf(b) || numberAt(a, 0) - numberAt(b, 0)),
        true,
      ),
    get size() {
      return size;
    },
  };
}
