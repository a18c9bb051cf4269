/** The hashes of a value's place and of the item that contains the value. */
export interface Whereabouts {
  readonly place: number;
  readonly item: number;
}

/** Remembers which facts have been recorded, so that repeated responses and objects are not counted again. */
export interface DistinctFacts {
  /** Returns whether a fact about an item is new at this place, and remembers the fact. */
  readonly isNew: (fact: string, where: Whereabouts) => boolean;
}

/** The number of bits in each of a record's two generations. A generation occupies 128 KiB. */
const BITS = 2 ** 20;

/** The number of facts that fill a generation. It is low enough for most new facts to be recognized as new. */
const FULL = BITS / 4;

/**
 * Creates an empty record of constant size, in which each fact is represented by a single bit. A new fact is therefore
 * sometimes mistaken for a known one, so counts tend to be too low rather than too high. When a generation is full, the
 * previous generation is discarded.
 */
export function createDistinctFacts(): DistinctFacts {
  let current = new Uint32Array(BITS / 32);
  let previous = new Uint32Array(BITS / 32);
  let facts = 0;
  return {
    isNew: (fact, { place, item }) => {
      const at = hashOf(fact, Math.imul(place, 31) ^ item) % BITS;
      const [word, bit] = [at >>> 5, 1 << (at & 31)];
      if ((current[word] ?? 0) & bit) return false;
      const isKnown = ((previous[word] ?? 0) & bit) !== 0;
      current[word] = (current[word] ?? 0) | bit;
      facts += 1;
      if (facts >= FULL) {
        [current, previous] = [previous.fill(0), current];
        facts = 0;
      }
      return !isKnown;
    },
  };
}

/** The maximum number of characters that are hashed. A body can contain texts of megabytes. */
const MAX_HASHED = 262_144;

/**
 * Returns a 32-bit hash of a string (FNV-1a). To continue from another hash, pass it as `start`. Of a very long string,
 * only its length and characters at regular distances are hashed.
 */
export function hashOf(text: string, start = 0): number {
  const { length } = text;
  const step = Math.ceil(length / MAX_HASHED) || 1;
  let hash = start ^ 0x811c9dc5 ^ (step === 1 ? 0 : length);
  for (let at = 0; at < length; at += step) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  // In FNV-1a, the last characters affect too few bits of the hash, so the bits are mixed once more at the end.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}

/** Returns the place for an object's member or an array's elements. */
export function below({ place, item }: Whereabouts, name: string): Whereabouts {
  return { place: hashOf(name, place), item };
}

/**
 * Returns the item that a value describes. An object with an id is the same item wherever it occurs. Any other value
 * belongs to the item that contains it.
 */
export function itemOf(value: unknown, container: number): number {
  if (typeof value !== 'object' || value === null) return container;
  const { id, type } = value as { readonly id?: unknown; readonly type?: unknown };
  if (typeof id !== 'number' && typeof id !== 'string') return container;
  return hashOf(typeof type === 'string' ? `${id} ${type}` : String(id));
}
