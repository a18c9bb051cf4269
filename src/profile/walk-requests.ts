import { itemsOf, toObject } from '../engine/contract/values.ts';
import { DEFAULT_JSON_LIMITS, exceededLimit } from '../lib/bounded-json.ts';
import type { Operation } from '../engine/model/operation.ts';

/** The maximum number of resources requested per operation. */
const MAX_RESOURCES = 30;

/** Returns an operation's plain requests, one per known resource. Returns no requests while an id is missing. */
export function firstRequests(operation: Operation, ids: KnownIds): readonly WalkRequest[] {
  return pathsOf(operation, ids).map((path, index) => ({
    operation: operation.id,
    target: path,
    query: '',
    rank: index === 0 ? RANK.plain : RANK.more,
  }));
}

/** Returns an operation's path parameters that have no known ids. */
export function missingIds(operation: Operation, ids: KnownIds): readonly string[] {
  return pathParameters(operation).filter((name) => ids.of(name).length === 0);
}

function pathsOf(operation: Operation, ids: KnownIds): readonly string[] {
  const names = pathParameters(operation);
  const count = Math.min(MAX_RESOURCES, ...names.map((name) => ids.of(name).length));
  // The nth path contains the nth id of each parameter, so not every combination of ids is requested.
  return Array.from({ length: names.length === 0 ? 1 : count }, (_, at) =>
    names.reduce(
      (path, name) => path.replace(`{${name}}`, () => encodeURIComponent(ids.of(name)[at] ?? '')),
      operation.path,
    ),
  );
}

const pathParameters = ({ parameters }: Operation): readonly string[] =>
  parameters.filter(({ location }) => location === 'path').map(({ name }) => name);

/** One request of a walk. */
export interface WalkRequest {
  /** The id of the requested operation. */
  readonly operation: string;
  /** The path and query, percent-encoded. */
  readonly target: string;
  /** The query without the path. Empty if there is no query. */
  readonly query: string;
  /**
   * The priority. Requests with lower ranks are sent first, so that every operation is requested once before any
   * operation is requested in detail.
   */
  readonly rank: number;
}

/**
 * The ranks of requests. `plain` requests are the first for each operation. `more` requests are sent only if the walk
 * does not reach its maximum first.
 */
const RANK = { plain: 0, pages: 1, shapes: 2, filters: 3, more: 4 } as const;

/** An additional query for a resource that has already been requested. */
interface Variation {
  readonly query: string;
  readonly rank: number;
}

const MAX_SORTS = 4;
const MAX_FIELDS = 3;

/**
 * Returns additional queries for an operation. They are derived from the operation's parameters and the response to its
 * plain request.
 */
export function variationsOf(operation: Operation, json: unknown): readonly Variation[] {
  const names = new Set(
    operation.parameters
      .filter(({ location, acceptance }) => location === 'query' && acceptance === 'known')
      .map(({ name }) => name),
  );
  const [item] = itemsOf(operation.itemsAt, json);
  const has = (name: string) => names.has(name);
  return [
    ...(has('page') ? pages(operation, membersOf(json)) : []),
    ...(has('sort') ? sorts(membersOf(json)) : []),
    ...projections(has, membersOf(item?.value)),
    ...(has('details') ? [shape('details=true')] : []),
    ...(has('active') ? [shape('active=false')] : []),
    ...(has('wrap') ? [shape('wrap=true')] : []),
    ...(has('v1') ? [shape('v1=true')] : []),
    ...filters(has, membersOf(item?.value)),
  ];
}

const page = (number: number): Variation => ({ query: `page=${number}`, rank: RANK.pages });
const shape = (query: string): Variation => ({ query, rank: RANK.shapes });
const filter = (query: string): Variation => ({ query, rank: RANK.filters });
const plainNames = (names: readonly string[]) => names.filter((name) => /^\w{1,40}$/.test(name));

function pages({ paging }: Operation, envelope: Members): Variation[] {
  const first = paging?.firstPage ?? 1;
  const { pageCount } = envelope;
  const counted = typeof pageCount === 'number' && Number.isSafeInteger(pageCount) && pageCount > 0;
  return [
    page(first),
    ...(counted && pageCount < 2 ? [] : [page(first + 1)]),
    { query: 'pageSize=50', rank: RANK.pages },
    { query: 'pageSize=1', rank: RANK.pages },
    ...(counted ? [page(first === 0 ? pageCount - 1 : pageCount)] : []),
    ...(counted ? [shape(`page=${pageCount + 1}`)] : []),
    ...(counted && pageCount > 2 ? [{ query: `page=${first + 2}&pageSize=5`, rank: RANK.more }] : []),
  ];
}

function sorts({ sorts: listed, sort }: Members): Variation[] {
  const names = [...(Array.isArray(listed) ? (listed as unknown[]) : []), sort];
  const plain = names.filter((name) => typeof name === 'string' && /^\w{1,40}$/.test(name));
  return [...new Set(plain)].slice(0, MAX_SORTS).map((name) => shape(`sort=${String(name)}`));
}

function projections(has: (name: string) => boolean, item: Members): Variation[] {
  const fields = plainNames(Object.keys(item));
  const nested = fields.flatMap((field) =>
    plainNames(Object.keys(membersOf(item[field]))).map((name) => `${field}.${name}`),
  );
  if (fields.length === 0) return [];
  const [inner] = nested;
  const last = fields.at(-1) ?? '';
  return [
    ...(has('includeOnly') ? [shape(`includeOnly=${fields.slice(0, MAX_FIELDS).join(',')}`)] : []),
    ...(has('includeOnly') && inner !== undefined ? [shape(`includeOnly=${inner}`)] : []),
    ...(has('exclude') ? [shape(`exclude=${last}`)] : []),
    ...(has('include') ? [shape(`include=${last}`)] : []),
  ];
}

function filters(has: (name: string) => boolean, item: Members): Variation[] {
  const space = item['primaryContainerId'];
  return [
    ...(has('spaceId') && Number.isSafeInteger(space) ? [filter(`spaceId=${String(space)}`)] : []),
    ...(has('unanswered') ? [filter('unanswered=true')] : []),
    ...(has('q') ? [filter('q=the')] : []),
  ];
}

type Members = Readonly<Record<string, unknown>>;

const membersOf = (value: unknown): Members => toObject(value) ?? {};

/** The ids known during a walk, grouped by path parameter. */
export interface KnownIds {
  /** Adds the ids in a response. Returns true if any of them is new. */
  learn(text: string): boolean;
  /** Returns the ids of one kind, starting with those from the command line. */
  of(kind: string): readonly string[];
}

/** The maximum number of stored ids of one kind. */
const MAX_IDS = 200;

const FIRST = ' first';

/** Creates the store of known ids, starting with those from the command line. */
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

/** The ids found in a response, keyed by path parameter. */
type DiscoveredIds = ReadonlyMap<string, readonly string[]>;

/** The path parameters that accept the ids in a list, keyed by the name of the list. */
const LISTS: Readonly<Record<string, string>> = {
  commentIds: 'commentId',
  answers: 'answerId',
  containerIds: 'spaceId',
};

/**
 * The path parameters that accept the id of an object without a `type`, keyed by the name of the field that contains
 * the object.
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

/**
 * Finds the ids in the text of a response. The ids are strings of digits, because a number cannot represent all 64-bit
 * ids.
 */
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

/** Parses JSON. Numbers that are not safe integers are returned as text, so that large ids remain exact. */
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
