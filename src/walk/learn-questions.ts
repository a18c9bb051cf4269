import { isRefusal } from '../learn/sample/page-sizes.ts';

/** One request that is asked for what the documented walk does not show. */
export interface LearnQuestion {
  /** The operation that it belongs to; undefined for an address outside the contract. */
  readonly operation: string | undefined;
  /** Path and query. */
  readonly target: string;
  readonly details?: boolean;
  readonly page?: number;
  readonly pageSize?: number;
  /** Asked instead where the size is refused. */
  readonly otherwise?: string;
}

/** Ids by the path parameter that they fit. */
export type IdsOf = (kind: string) => readonly string[];

/** Every address is asked for often enough to be believed, and no more. */
const FEW = 3;
const SOME = 8;
const PAGES = 5;
/** So many that what is always in a ticket can be told from what happens to be. */
const TICKETS = 24;
const PAGE_SIZE = 50;
const BASE = '/services/v2';

/** Pages of lists that show attachments, and relations of followers: the plain walk sees too few of both. */
export function openQuestions(ids: IdsOf): LearnQuestion[] {
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
        // The largest size that the server likes may be smaller.
        otherwise: `${BASE}/${name}.json?page=${page}`,
      })),
    ),
    ...relations.map(({ operation, path }) => ({
      operation,
      target: `${BASE}/${path}/followers.json?details=true&active=false`,
      details: true,
    })),
  ];
}

/** The look-ups of tickets by node, which the specification names and does not show; only some nodes have one. */
export function ticketQuestions(ids: IdsOf): LearnQuestion[] {
  return ids('nodeId')
    .slice(0, TICKETS)
    .map((id) => address(`issuetracker/node/${id}/ticket`));
}

/** The look-ups by the keys that those answers name; each more than once, as one answer is no evidence. */
export function ticketKeyQuestions(keys: ReadonlySet<string>): LearnQuestion[] {
  const some = [...keys].slice(0, TICKETS);
  const times = Math.ceil(FEW / Math.max(1, some.length));
  return some.flatMap((key) =>
    Array.from({ length: times }, () => address(`issuetracker/key/${encodeURIComponent(key)}/ticket`)),
  );
}

/** Addresses outside the contract that clients are known to use. */
export function addressQuestions(ids: IdsOf): LearnQuestion[] {
  const one = (name: string, kind: string, rest = '') =>
    ids(kind)
      .slice(0, FEW)
      .map((id) => address(`${name}/${id}${rest}`));
  const lists = ['answer', 'comment', 'node', 'user', 'topic', 'space'];
  return [
    ...one('question', 'questionId'),
    ...one('question', 'questionId', '/answer'),
    ...one('question', 'questionId', '/comment'),
    ...one('answer', 'answerId'),
    ...one('user', 'userId'),
    ...lists.flatMap((name) => Array.from({ length: FEW }, () => address(name))),
  ];
}

/** The sizes that a probe asks for, one after the other. */
export const PROBED_SIZES: readonly number[] = [100, 200, 500, 1000];

/** Lists that need no id, for the probe of page sizes. */
export const PROBED_LISTS: readonly (readonly [operation: string, path: string])[] = [
  ['listQuestions', `${BASE}/question.json`],
  ['listIdeas', `${BASE}/idea.json`],
  ['listArticles', `${BASE}/article.json`],
];

const address = (path: string): LearnQuestion => ({ operation: undefined, target: `${BASE}/${path}.json` });

/** Asks one question; undefined where no answer came. */
export type Ask = (question: LearnQuestion) => Promise<{ readonly status: number; readonly json: unknown } | undefined>;

/** Asks for larger and larger pages until one holds all items that there are; where a size is refused, for those between. */
export async function probePageSizes(ask: Ask): Promise<void> {
  for (const [operation, path] of PROBED_LISTS) {
    const asked = (pageSize: number) => ask({ operation, target: `${path}?pageSize=${pageSize}`, pageSize });
    let accepted = 1;
    for (const size of PROBED_SIZES) {
      const { status, json } = (await asked(size)) ?? { status: 0, json: undefined };
      if (isRefusal(status)) await halve(asked, accepted, size);
      const { list, totalCount } = (json ?? {}) as { readonly list?: unknown; readonly totalCount?: unknown };
      if (status !== 200 || !Array.isArray(list) || typeof totalCount !== 'number' || totalCount <= list.length) break;
      accepted = size;
    }
  }
}

/** Finds the size from which on the server refuses. */
async function halve(asked: (size: number) => ReturnType<Ask>, accepted: number, refused: number): Promise<void> {
  let [low, high] = [accepted, refused];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    const status = (await asked(middle))?.status ?? 0;
    if (status !== 200 && !isRefusal(status)) return;
    if (status === 200) low = middle;
    else high = middle;
  }
}
