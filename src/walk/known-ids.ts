import { DEFAULT_JSON_LIMITS, exceededLimit } from '../lib/bounded-json.ts';

/** The ids that a walk knows, by path parameter. */
export interface KnownIds {
  /** Adds the ids in a response. Returns true if any of them is new. */
  learn(text: string): boolean;
  /** Returns the ids of a kind, starting with those from the command line. */
  of(kind: string): readonly string[];
}

/** The maximum number of stored ids of one kind. */
const MAX_IDS = 200;

const FIRST = ' first';

/** Creates the store with the ids from the command line. */
export function createKnownIds(configured: ReadonlyMap<string, readonly string[]>): KnownIds {
  const preferred = new Map<string, Set<string>>();
  const others = new Map<string, Set<string>>();
  for (const [kind, ids] of configured) add(preferred, kind, ids);
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

/** Adds ids. Returns true if any of them is new. */
function add(to: Map<string, Set<string>>, kind: string, ids: readonly string[]): boolean {
  const known = to.get(kind) ?? new Set<string>();
  const before = known.size;
  for (const id of ids) if (known.size < MAX_IDS) known.add(id);
  to.set(kind, known);
  return known.size > before;
}

/** The ids in a response, by path parameter. */
type DiscoveredIds = ReadonlyMap<string, readonly string[]>;

/** The path parameter that accepts the ids in a list, by the name of the list. */
const LISTS: Readonly<Record<string, string>> = {
  commentIds: 'commentId',
  answers: 'answerId',
  containerIds: 'spaceId',
};

/**
 * The path parameter that accepts the id of an object without a `type`, by the name of the field that contains the
 * object.
 */
const OBJECTS: Readonly<Record<string, string>> = {
  author: 'userId',
  parentAuthor: 'userId',
  user: 'userId',
  topics: 'topicId',
  groups: 'groupId',
  comments: 'commentId',
  answers: 'answerId',
};

/** The types whose ids can also be used in `node/{nodeId}`. */
const NODE_TYPES: ReadonlySet<string> = new Set(['question', 'answer', 'idea', 'kbentry', 'article', 'node']);

const MAX_DEPTH = 8;
const MAX_ELEMENTS = 200;

/** Finds the ids in the text of a response as strings of digits, because a number cannot represent every 64-bit id. */
function discoverIds(text: string): DiscoveredIds {
  const found = new Map<string, Set<string>>();
  const collect = (kind: string, value: unknown) => {
    const id = typeof value === 'number' ? String(value) : value;
    if (typeof id !== 'string' || !/^\d{1,19}$/.test(id)) return;
    const ids = found.get(kind) ?? new Set<string>();
    found.set(kind, ids.add(id));
  };
  findIds(parseExact(text), undefined, 0, collect);
  return new Map([...found].map(([kind, ids]) => [kind, [...ids]]));
}

type AddId = (kind: string, value: unknown) => void;

function findIds(value: unknown, name: string | undefined, depth: number, addId: AddId): void {
  if (depth > MAX_DEPTH) return;
  if (Array.isArray(value)) {
    for (const element of value.slice(0, MAX_ELEMENTS) as unknown[]) {
      if (typeof element === 'object') findIds(element, name, depth + 1, addId);
      else if (name !== undefined && Object.hasOwn(LISTS, name)) addId(LISTS[name] ?? '', element);
    }
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const members = value as Readonly<Record<string, unknown>>;
  addItem(members, name, addId);
  for (const [key, member] of Object.entries(members).slice(0, MAX_ELEMENTS))
    if (typeof member === 'object') findIds(member, key, depth + 1, addId);
}

function addItem(item: Readonly<Record<string, unknown>>, name: string | undefined, addId: AddId): void {
  const { id, type } = item;
  if (typeof type === 'string' && /^[a-z]{1,20}$/.test(type)) {
    addId(`${type}Id`, id);
    if (NODE_TYPES.has(type)) {
      // Nodes with comments come first, because an empty list of comments provides little evidence.
      const commented = Array.isArray(item['commentIds']) && item['commentIds'].length > 0;
      addId(commented ? 'nodeId first' : 'nodeId', id);
    }
    return;
  }
  if (name !== undefined && Object.hasOwn(OBJECTS, name)) addId(OBJECTS[name] ?? '', id);
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
