import {
  type Exploration,
  type FoundId,
  type IdsOf,
  type LearningRequest,
  RANK,
  type Variation,
} from '../engine/contract/exploration.ts';
import { itemsOf, toObject } from '../engine/contract/values.ts';
import type { Operation } from '../engine/model/operation.ts';
import { DEFAULT_JSON_LIMITS, exceededLimit } from '../lib/bounded-json.ts';
import { BASE_PATH } from './base-path.ts';

const MAX_SORTS = 4;
const MAX_FIELDS = 3;

/**
 * Returns additional queries for an operation. They are derived from the operation's parameters and the response to its
 * plain request.
 */
function variationsOf(operation: Operation, json: unknown): readonly Variation[] {
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

const pageAt = (number: number): Variation => ({ query: `page=${number}`, rank: RANK.pages });
const shape = (query: string): Variation => ({ query, rank: RANK.shapes });
const filter = (query: string): Variation => ({ query, rank: RANK.filters });
const plainNames = (names: readonly string[]) => names.filter((name) => /^\w{1,40}$/.test(name));

function pages({ paging }: Operation, envelope: Members): Variation[] {
  const first = paging?.firstPage ?? 1;
  const { pageCount } = envelope;
  const counted = typeof pageCount === 'number' && Number.isSafeInteger(pageCount) && pageCount > 0;
  return [
    pageAt(first),
    ...(counted && pageCount < 2 ? [] : [pageAt(first + 1)]),
    { query: 'pageSize=50', rank: RANK.pages },
    { query: 'pageSize=1', rank: RANK.pages },
    ...(counted ? [pageAt(first === 0 ? pageCount - 1 : pageCount)] : []),
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

/** How deep ids are searched for, and in how many elements of each array. */
const MAX_DEPTH = 8;
const MAX_ELEMENTS = 200;

/**
 * Finds the ids in the text of a response. The ids are strings of digits, because a number cannot represent all 64-bit
 * ids.
 */
function discoverIds(text: string): readonly FoundId[] {
  const found = new Map<string, FoundId>();
  findIds(parseExact(text), undefined, 0, (parameter, value, isPreferred = false) => {
    const id = typeof value === 'number' ? String(value) : value;
    if (typeof id !== 'string' || !/^\d{1,19}$/.test(id)) return;
    found.set(`${parameter} ${id} ${isPreferred}`, { parameter, id, isPreferred });
  });
  return [...found.values()];
}

type AddId = (parameter: string, value: unknown, isPreferred?: boolean) => void;

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
      addId('nodeId', id, commented);
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

const NAMED = /key$/i;
/**
 * Matches the names of keys with secret values. In a request path, a secret value would appear in the logs of the
 * server and its proxies.
 */
const SECRET =
  /(?:access|api|auth|cert(?:ificate)?|encryption|host|licen[cs]e|master|pass|private|public|secret|security|service|session|shared|sign(?:ing)?|ssh|token)[_-]?key$/i;
const ISSUE_KEY = /^[A-Z][A-Z0-9_]{1,19}-\d{1,9}$/;
const MAX_TICKET_DEPTH = 5;
const MAX_TICKET_ELEMENTS = 20;

/**
 * Returns the issue keys in a ticket, at any depth. An issue key is recognized by its own form or by the name of its
 * field.
 */
export function ticketKeysIn(value: unknown, name = '', depth = 0): readonly string[] {
  if (typeof value === 'string')
    return ISSUE_KEY.test(value) || (isNamed(name) && /^[\w-]{1,40}$/.test(value)) ? [value] : [];
  if (typeof value !== 'object' || value === null || depth > MAX_TICKET_DEPTH) return [];
  if (Array.isArray(value))
    return value.slice(0, MAX_TICKET_ELEMENTS).flatMap((one) => ticketKeysIn(one, name, depth + 1));
  return Object.entries(value).flatMap(([key, member]) => ticketKeysIn(member, key, depth + 1));
}

const isNamed = (name: string) => NAMED.test(name) && !SECRET.test(name);

/** The number of requests for one path. It is just large enough to provide evidence. */
const FEW = 3;
const SOME = 8;
const PAGES = 5;
/**
 * The number of tickets to request. It is large enough to distinguish fields that are always present from fields that
 * are sometimes present.
 */
const TICKETS = 24;
const PAGE_SIZE = 50;

/**
 * Returns requests for follow relations and for list pages with attachments, because the main walk requests too few of
 * either.
 */
function openPlaceRequests(ids: IdsOf): LearningRequest[] {
  const numbers = Array.from({ length: PAGES }, (_, at) => at + 1);
  const lists = [
    ['listQuestions', 'question'],
    ['listIdeas', 'idea'],
    ['listArticles', 'article'],
    ['listActions', 'action'],
  ] as const;
  const relations = [
    ...ids('nodeId')
      .slice(0, 2 * SOME)
      .map((id) => ({ operation: 'listNodeFollowers', path: `node/${id}` })),
    ...ids('topicId')
      .slice(0, SOME)
      .map((id) => ({ operation: 'listTopicFollowers', path: `topic/${id}` })),
  ];
  return [
    ...lists.flatMap(([operation, name]) =>
      numbers.map((page) => ({
        operation,
        target: `${BASE_PATH}${name}.json?pageSize=${PAGE_SIZE}&page=${page}`,
        page,
        pageSize: PAGE_SIZE,
        // The server's maximum page size may be smaller than the requested page size.
        fallback: `${BASE_PATH}${name}.json?page=${page}`,
      })),
    ),
    ...relations.map(({ operation, path }) => ({
      operation,
      target: `${BASE_PATH}${path}/followers.json?details=true&active=false`,
      details: true,
    })),
  ];
}

/**
 * Returns requests for the tickets of nodes. The specification mentions their paths but does not describe them. Only
 * some nodes have tickets.
 */
function ticketRequests(ids: IdsOf): LearningRequest[] {
  return ids('nodeId')
    .slice(0, TICKETS)
    .map((id) => undocumented(`issuetracker/node/${id}/ticket`));
}

/**
 * Returns requests for the issue keys found in ticket responses. If there are only a few keys, each key is requested
 * several times to provide more evidence.
 */
function ticketKeyRequests(keys: ReadonlySet<string>): LearningRequest[] {
  const some = [...keys].slice(0, TICKETS);
  const times = Math.ceil(FEW / Math.max(1, some.length));
  return some.flatMap((key) =>
    Array.from({ length: times }, () => undocumented(`issuetracker/key/${encodeURIComponent(key)}/ticket`)),
  );
}

/** Returns requests for undocumented paths that clients are known to use. */
function undocumentedRequests(ids: IdsOf): LearningRequest[] {
  const one = (name: string, kind: string, rest = '') =>
    ids(kind)
      .slice(0, FEW)
      .map((id) => undocumented(`${name}/${id}${rest}`));
  const lists = ['answer', 'comment', 'node', 'user', 'topic', 'space'];
  return [
    ...one('question', 'questionId'),
    ...one('question', 'questionId', '/answer'),
    ...one('question', 'questionId', '/comment'),
    ...one('answer', 'answerId'),
    ...one('user', 'userId'),
    ...lists.flatMap((name) => Array.from({ length: FEW }, () => undocumented(name))),
  ];
}

const PROBED_LISTS = [
  { operation: 'listQuestions', path: `${BASE_PATH}question.json` },
  { operation: 'listIdeas', path: `${BASE_PATH}idea.json` },
  { operation: 'listArticles', path: `${BASE_PATH}article.json` },
];

const undocumented = (path: string): LearningRequest => ({ operation: undefined, target: `${BASE_PATH}${path}.json` });

/** How programs explore a server of the community Q&A API. */
export const exploration: Exploration = {
  discoverIds,
  variationsOf,
  missingPath: `${BASE_PATH}comment/999999999.json`,
  learningSteps: [
    openPlaceRequests,
    ticketRequests,
    (ids, tickets) => [
      ...ticketKeyRequests(new Set(tickets.flatMap((one) => ticketKeysIn(one)))),
      ...undocumentedRequests(ids),
    ],
  ],
  probedLists: PROBED_LISTS,
};
