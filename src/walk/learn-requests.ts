import { isRefusal } from '../learn/sample/page-sizes.ts';

/** One request for information that the walk over the contract does not provide. */
interface LearnRequest {
  /** The id of the requested operation; undefined for an undocumented path. */
  readonly operation: string | undefined;
  /** The path and query. */
  readonly target: string;
  readonly details?: boolean;
  readonly page?: number;
  readonly pageSize?: number;
  /** The target to request instead if the page size is refused. */
  readonly fallback?: string;
}

/** Returns the known ids for a path parameter. */
type IdsOf = (kind: string) => readonly string[];

/** The number of requests for one path, which is just enough to provide evidence. */
const FEW = 3;
const SOME = 8;
const PAGES = 5;
/** How many tickets to request: enough to tell fields that are always present from those that are sometimes present. */
const TICKETS = 24;
const PAGE_SIZE = 50;
const BASE = '/services/v2';

/**
 * Returns requests for pages of lists with attachments and for follow relations, because the plain walk does not
 * request enough of them.
 */
export function openPlaceRequests(ids: IdsOf): LearnRequest[] {
  const pages = Array.from({ length: PAGES }, (_, at) => at + 1);
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
      pages.map((page) => ({
        operation,
        target: `${BASE}/${name}.json?pageSize=${PAGE_SIZE}&page=${page}`,
        page,
        pageSize: PAGE_SIZE,
        // The server's maximum page size may be smaller.
        fallback: `${BASE}/${name}.json?page=${page}`,
      })),
    ),
    ...relations.map(({ operation, path }) => ({
      operation,
      target: `${BASE}/${path}/followers.json?details=true&active=false`,
      details: true,
    })),
  ];
}

/**
 * Returns lookups of tickets by node, which the specification names but does not describe. Only some nodes have
 * tickets.
 */
export function ticketRequests(ids: IdsOf): LearnRequest[] {
  return ids('nodeId')
    .slice(0, TICKETS)
    .map((id) => undocumented(`issuetracker/node/${id}/ticket`));
}

/**
 * Returns lookups by the issue keys in ticket responses. If there are few keys, each one is requested several times for
 * more evidence.
 */
export function ticketKeyRequests(keys: ReadonlySet<string>): LearnRequest[] {
  const some = [...keys].slice(0, TICKETS);
  const times = Math.ceil(FEW / Math.max(1, some.length));
  return some.flatMap((key) =>
    Array.from({ length: times }, () => undocumented(`issuetracker/key/${encodeURIComponent(key)}/ticket`)),
  );
}

/** Returns requests for undocumented paths that clients are known to use. */
export function undocumentedRequests(ids: IdsOf): LearnRequest[] {
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

/** The page sizes that a probe requests, in order. */
const PROBED_SIZES: readonly number[] = [100, 200, 500, 1000];

/** The lists whose page sizes are probed. They can be requested without an id. */
const PROBED_LISTS: readonly (readonly [operation: string, path: string])[] = [
  ['listQuestions', `${BASE}/question.json`],
  ['listIdeas', `${BASE}/idea.json`],
  ['listArticles', `${BASE}/article.json`],
];

const undocumented = (path: string): LearnRequest => ({ operation: undefined, target: `${BASE}/${path}.json` });

/** Sends one request. Returns undefined if there is no response. */
export type SendRequest = (
  request: LearnRequest,
) => Promise<{ readonly status: number; readonly json: unknown } | undefined>;

/**
 * Requests larger and larger pages until one contains all items. If a size is refused, finds the largest one that is
 * accepted.
 */
export async function probePageSizes(send: SendRequest): Promise<void> {
  for (const [operation, path] of PROBED_LISTS) {
    const requestPage = (pageSize: number) => send({ operation, target: `${path}?pageSize=${pageSize}`, pageSize });
    let accepted = 1;
    for (const size of PROBED_SIZES) {
      const { status, json } = (await requestPage(size)) ?? { status: 0, json: undefined };
      if (isRefusal(status)) await bisect(requestPage, accepted, size);
      const { list, totalCount } = (json ?? {}) as { readonly list?: unknown; readonly totalCount?: unknown };
      if (status !== 200 || !Array.isArray(list) || typeof totalCount !== 'number' || totalCount <= list.length) break;
      accepted = size;
    }
  }
}

/** Finds the smallest size that the server refuses. */
async function bisect(
  requestPage: (size: number) => ReturnType<SendRequest>,
  accepted: number,
  refused: number,
): Promise<void> {
  let [low, high] = [accepted, refused];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    const status = (await requestPage(middle))?.status ?? 0;
    if (status !== 200 && !isRefusal(status)) return;
    if (status === 200) low = middle;
    else high = middle;
  }
}
