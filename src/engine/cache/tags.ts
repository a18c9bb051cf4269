import type { ItemsAt } from '../model/operation.ts';

/**
 * Returns a resource's tag. Ids above 2^53 are rounded, as in `JSON.parse`. Two resources can therefore share a tag,
 * but a purge never misses a page.
 */
export function tagOf(kind: string, id: string | number): string {
  // A safe integer needs no rounding.
  if (typeof id === 'number' && id >= 0 && Number.isSafeInteger(id)) return `${kind}:${id}`;
  const text = String(id);
  return /^[0-9]{1,20}$/.test(text) ? `${kind}:${Number(text)}` : `${kind}:${text}`;
}

/**
 * Returns the tag for pages that can contain any resource of a kind. Purging this tag purges all pages of that kind.
 */
function wildcardOf(kind: string): string {
  return `${kind}:*`;
}

/** Returns the kind from a tag (`node` from `node:5`), or undefined for tags without a kind. */
function kindOf(tag: string): string | undefined {
  const colon = tag.indexOf(':');
  return colon > 0 ? tag.slice(0, colon) : undefined;
}

/**
 * Inserts path parameters into the contract's tag templates, such as `node:{nodeId}`, and returns the resulting tags.
 * If a parameter is missing, the kind's wildcard tag is returned instead.
 */
export function tagsOf(
  templates: readonly string[],
  parameters: Readonly<Record<string, string | number>>,
): readonly string[] {
  if (!templates.some((template) => template.includes('{'))) return templates;
  return templates.map((template) => {
    const [, kind, name] = /^([^:{}]+):\{([^{}]+)\}$/.exec(template) ?? [];
    if (kind !== undefined && name !== undefined) return tagOf(kind, valueOf(parameters, name));
    return template.replaceAll(/\{([^{}]+)\}/g, (_, inner: string) => String(valueOf(parameters, inner)));
  });
}

function valueOf(parameters: Readonly<Record<string, string | number>>, name: string): string | number {
  return Object.hasOwn(parameters, name) ? (parameters[name] ?? '*') : '*';
}

/** What tags contain of items: their kind, and the id to which the names within an item lead. */
interface TaggedItems {
  readonly kind: string;
  readonly idOf: (itemsAt: ItemsAt) => readonly string[];
}

/** A page with more items than this gets a wildcard tag instead of a tag for each item. */
const MAX_ITEMS = 1000;

/**
 * Returns tags for the items on a page, such as `node:5`, so that a write to an item purges the page. If the page has
 * too many items, or an item whose id is unknown, returns the kind's wildcard tag instead. Every purge of that kind
 * includes this tag.
 */
export function itemTags(json: unknown, itemsAt: ItemsAt, { kind, idOf }: TaggedItems): string[] {
  const names = idOf(itemsAt);
  const items = itemsOf(json, itemsAt);
  if (items === undefined || items.length > MAX_ITEMS) return [wildcardOf(kind)];
  const tags = new Set<string>();
  for (const item of items) {
    const id = names.reduce(member, item);
    tags.add(typeof id === 'number' || typeof id === 'string' ? tagOf(kind, id) : wildcardOf(kind));
  }
  return [...tags];
}

function itemsOf(json: unknown, itemsAt: ItemsAt): readonly unknown[] | undefined {
  if (itemsAt === 'body') return [json];
  const items = itemsAt === 'elements' ? json : member(json, itemsAt);
  return Array.isArray(items) ? (items as readonly unknown[]) : undefined;
}

function member(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}

const WHOLE_KIND = ':**';

// Returns an internal tag that means "everything of this kind was purged".
const wholeKind = (kind: string) => `${kind}${WHOLE_KIND}`;

/**
 * Returns all tags that a purge affects: the given tags, the wildcard tags of their kinds, and, for each given wildcard
 * tag, the tag for the whole kind.
 */
export function purgeReach(tags: Iterable<string>): ReadonlySet<string> {
  const reached = new Set<string>();
  for (const tag of tags) {
    reached.add(tag);
    const kind = kindOf(tag);
    if (kind === undefined) continue;
    reached.add(wildcardOf(kind));
    if (tag === wildcardOf(kind)) reached.add(wholeKind(kind));
  }
  return reached;
}

/** Returns the tags whose purge invalidates a page with the given tags. */
export function invalidatingTags(tags: Iterable<string>): ReadonlySet<string> {
  const invalidating = new Set<string>();
  for (const tag of tags) {
    invalidating.add(tag);
    const kind = kindOf(tag);
    if (kind !== undefined) invalidating.add(wholeKind(kind));
  }
  return invalidating;
}

/** An index that maps tags to the keys of stored pages. */
export interface TagIndex {
  add(key: string, tags: Iterable<string>): void;
  remove(key: string, tags: Iterable<string>): void;
  /**
   * Returns the keys of the pages that have a tag. For the tag of a whole kind, returns the keys of all pages that have
   * any tag of that kind; a key can then occur several times.
   */
  keysOf(tag: string): readonly string[];
  clear(): void;
  /** Returns all tags, each with its number of keys. */
  counts(): Iterable<readonly [tag: string, keys: number]>;
  /** The number of distinct tags. */
  readonly size: number;
}

/** Creates an empty index. */
export function createTagIndex(): TagIndex {
  const keys = new Map<string, Set<string>>();
  /** Returns the keys of all pages that have a tag of this kind. A key can occur several times. */
  const keysOfKind = (kind: string) => {
    const tags = [...keys.keys()].filter((tag) => kindOf(tag) === kind);
    return tags.flatMap((tag) => Array.from(keys.get(tag) ?? []));
  };
  return {
    add(key, tags) {
      for (const tag of tags) {
        const tagged = keys.get(tag);
        if (tagged) tagged.add(key);
        else keys.set(tag, new Set([key]));
      }
    },
    remove(key, tags) {
      for (const tag of tags) {
        const tagged = keys.get(tag);
        if (tagged?.delete(key) === true && tagged.size === 0) keys.delete(tag);
      }
    },
    // An entry for the whole kind would require an insertion and a removal for every stored page. Searching takes no
    // longer than the purge itself, which removes every page found.
    keysOf: (tag) =>
      tag.endsWith(WHOLE_KIND) ? keysOfKind(tag.slice(0, -WHOLE_KIND.length)) : [...(keys.get(tag) ?? [])],
    clear: () => keys.clear(),
    counts: () => [...keys].map(([tag, tagged]) => [tag, tagged.size] as const),
    get size() {
      return keys.size;
    },
  };
}
