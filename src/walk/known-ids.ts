import { DEFAULT_JSON_LIMITS, exceededLimit } from '../lib/bounded-json.ts';

/** The ids that a walk knows, by the path parameter that they fit. */
export interface KnownIds {
  /** Takes in what an answer shows; true when something new was in it. */
  learn(text: string): boolean;
  /** The ids of a kind, given ones first. */
  of(kind: string): readonly string[];
}

/** How many ids of one kind are remembered. */
const MAX_IDS = 200;

const FIRST = ' first';

/** Starts with the ids that were given on the command line. */
export function createKnownIds(given: ReadonlyMap<string, readonly string[]>): KnownIds {
  const preferred = new Map<string, Set<string>>();
  const others = new Map<string, Set<string>>();
  for (const [kind, ids] of given) add(preferred, kind, ids);
  return {
    learn: (text) =>
      [...discoverIds(text)]
        .map(([kind, ids]) =>
          kind.endsWith(FIRST) ? add(preferred, kind.slice(0, -FIRST.length), ids) : add(others, kind, ids),
        )
        .some(Boolean),
    of: (kind) => [...new Set([...(preferred.get(kind) ?? []), ...(others.get(kind) ?? [])])],
  };
}

/** True when one of them was not known before. */
function add(to: Map<string, Set<string>>, kind: string, ids: readonly string[]): boolean {
  const known = to.get(kind) ?? new Set<string>();
  const before = known.size;
  for (const id of ids) if (known.size < MAX_IDS) known.add(id);
  to.set(kind, known);
  return known.size > before;
}

/** Ids that an answer shows, by the path parameter that they fit. */
export type DiscoveredIds = ReadonlyMap<string, readonly string[]>;

/** What the elements of a list of bare ids are. */
const LISTS: Readonly<Record<string, string>> = {
  commentIds: 'commentId',
  answers: 'answerId',
  containerIds: 'spaceId',
};

/** What the objects under a name are, where they do not say it with a `type`. */
const OBJECTS: Readonly<Record<string, string>> = {
  author: 'userId',
  parentAuthor: 'userId',
  user: 'userId',
  topics: 'topicId',
  groups: 'groupId',
  comments: 'commentId',
  answers: 'answerId',
};

/** Types of nodes that have an address of their own kind beside `node/{nodeId}`. */
const NODE_TYPES: ReadonlySet<string> = new Set(['question', 'answer', 'idea', 'kbentry', 'article', 'node']);

const MAX_DEPTH = 8;
const MAX_ELEMENTS = 200;

/** Finds the ids in the text of an answer, digit by digit: a 64-bit id does not survive a number. */
export function discoverIds(text: string): DiscoveredIds {
  const found = new Map<string, Set<string>>();
  const tell = (kind: string, value: unknown) => {
    const id = typeof value === 'number' ? String(value) : value;
    if (typeof id !== 'string' || !/^\d{1,19}$/.test(id)) return;
    const ids = found.get(kind) ?? new Set<string>();
    found.set(kind, ids.add(id));
  };
  look(parseExact(text), undefined, 0, tell);
  return new Map([...found].map(([kind, ids]) => [kind, [...ids]]));
}

type Tell = (kind: string, value: unknown) => void;

function look(value: unknown, name: string | undefined, depth: number, tell: Tell): void {
  if (depth > MAX_DEPTH) return;
  if (Array.isArray(value)) {
    for (const element of value.slice(0, MAX_ELEMENTS) as unknown[]) {
      if (typeof element === 'object') look(element, name, depth + 1, tell);
      else if (name !== undefined && Object.hasOwn(LISTS, name)) tell(LISTS[name] ?? '', element);
    }
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const members = value as Readonly<Record<string, unknown>>;
  tellItem(members, name, tell);
  for (const [key, member] of Object.entries(members).slice(0, MAX_ELEMENTS))
    if (typeof member === 'object') look(member, key, depth + 1, tell);
}

function tellItem(item: Readonly<Record<string, unknown>>, name: string | undefined, tell: Tell): void {
  const { id, type } = item;
  if (typeof type === 'string' && /^[a-z]{1,20}$/.test(type)) {
    tell(`${type}Id`, id);
    if (NODE_TYPES.has(type)) {
      // Nodes that have comments come first: an empty list of comments shows little.
      const commented = Array.isArray(item['commentIds']) && item['commentIds'].length > 0;
      tell(commented ? 'nodeId first' : 'nodeId', id);
    }
    return;
  }
  if (name !== undefined && Object.hasOwn(OBJECTS, name)) tell(OBJECTS[name] ?? '', id);
}

function parseExact(text: string): unknown {
  if (exceededLimit(Buffer.from(text), DEFAULT_JSON_LIMITS) !== undefined) return undefined;
  try {
    return JSON.parse(text, (_key, value: unknown, context?: { readonly source?: string }) =>
      typeof value === 'number' && !Number.isSafeInteger(value) ? (context?.source ?? value) : value,
    ) as unknown;
  } catch {
    return undefined;
  }
}
