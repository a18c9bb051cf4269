/** A repeatable source of pseudo-random choices. The same seed always produces the same sequence. */
export interface SeededRandom {
  /** Returns a number in [0, 1). */
  fraction(): number;
  /** Returns an integer from `low` to `high`, inclusive. */
  integer(low: number, high: number): number;
  /** Returns true with the given probability (0 to 1). */
  chance(probability: number): boolean;
  /** Returns one of the items. Throws `RangeError` if there are none. */
  pick<Item>(items: readonly Item[]): Item;
  /** Returns up to `count` distinct items in random order. */
  sample<Item>(items: readonly Item[], count: number): Item[];
}

/**
 * Creates a repeatable random source with the mulberry32 algorithm, which is small, fast and good enough for test data.
 */
export function createSeededRandom(seed: number): SeededRandom {
  let state = seed >>> 0;
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const integer = (low: number, high: number): number => low + Math.floor(fraction() * (high - low + 1));
  const pick = <Item>(items: readonly Item[]): Item => {
    const index = integer(0, items.length - 1);
    if (index < 0 || index >= items.length) throw new RangeError('nothing to pick from');
    return items[index] as Item;
  };
  const sample = <Item>(items: readonly Item[], count: number): Item[] => {
    const rest = [...items];
    const chosen: Item[] = [];
    while (chosen.length < count && rest.length > 0) chosen.push(...rest.splice(integer(0, rest.length - 1), 1));
    return chosen;
  };
  return { fraction, integer, chance: (probability) => fraction() < probability, pick, sample };
}
