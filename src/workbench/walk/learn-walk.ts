import { setTimeout as sleep } from 'node:timers/promises';
import type { Learner } from '../../learner/create-learner.ts';
import { isRefusal } from '../../learner/sample/page-sizes.ts';
import { DEFAULT_JSON_LIMITS, parseBounded, parsedValue } from '../../lib/bounded-json.ts';
import { UpstreamFailure } from '../../engine/model/upstream-failure.ts';
import type { CompiledGateway } from '../../engine/pipeline/compiled-gateway.ts';
import type { Upstream } from '../../engine/upstream/create-upstream.ts';
import { createKnownIds, type KnownIds } from '../../profile/walk-requests.ts';
import { toSampledResponse } from '../../learner/sample/sampled-response.ts';
import { walk, type WalkSummary } from './walk.ts';
import { toWalkedGateway } from './send-walk-request.ts';

/** Options for a walk that samples the upstream. */
interface LearnWalkOptions {
  /** The value of `Authorization`. Undefined for an anonymous walk. */
  readonly authorization: string | undefined;
  /** Ids given on the command line, keyed by path parameter. */
  readonly ids: ReadonlyMap<string, readonly string[]>;
  /** The maximum number of requests in the walk through the contract. About 100 more requests are sent afterwards. */
  readonly maxRequests: number;
  readonly delayMs: number;
  readonly signal: AbortSignal;
  readonly probePageSize: boolean;
  readonly onProgress: (progress: {
    readonly sent: number;
    /** The number of requests still queued for the walk through the contract. Undefined after that walk has ended. */
    readonly left?: number | undefined;
    readonly operation: string;
  }) => void;
}

/** The result of the walk. */
interface LearnWalkSummary {
  readonly walked: WalkSummary;
  /** The number of requests sent after the walk through the contract. */
  readonly further: number;
}

interface Sender {
  readonly send: SendRequest;
  readonly sent: () => number;
}

/**
 * Requests the contract's safe operations, then sends additional requests, one at a time. The learner samples every
 * response.
 */
export async function walkToLearn(
  { gateway, upstream }: { readonly gateway: CompiledGateway; readonly upstream: Upstream },
  learner: Learner,
  options: LearnWalkOptions,
): Promise<LearnWalkSummary> {
  const ids = createKnownIds(options.ids);
  const walked = await walk(
    toWalkedGateway(gateway),
    {
      ...options,
      record: () => undefined,
    },
    ({ operation, exchange, status, json, text }) => {
      if (json !== undefined) learner.sampleResponse(toSampledResponse(exchange, operation.id, status, json));
      if (status === 200 && text !== undefined) ids.learn(text);
    },
  );
  if (walked.ended === 'signal' || walked.ended === 'unreachable') return { walked, further: 0 };
  const sender = createSender(upstream, learner, ids, walked.requests, options);
  for (const request of openPlaceRequests(ids.of)) {
    const status = (await sender.send(request))?.status ?? 0;
    const { operation, fallback, page } = request;
    if (isRefusal(status) && fallback !== undefined)
      await sender.send({ operation, target: fallback, ...(page !== undefined && { page }) });
  }
  const keys = new Set<string>();
  for (const request of ticketRequests(ids.of)) {
    const { status, json } = (await sender.send(request)) ?? { status: 0, json: undefined };
    if (status === 200) for (const key of ticketKeysIn(json)) keys.add(key);
  }
  for (const request of [...ticketKeyRequests(keys), ...undocumentedRequests(ids.of)]) await sender.send(request);
  if (options.probePageSize) await probePageSizes(sender.send);
  return { walked, further: sender.sent() };
}

function createSender(
  upstream: Upstream,
  learner: Learner,
  ids: KnownIds,
  before: number,
  { authorization, delayMs, signal, onProgress }: LearnWalkOptions,
): Sender {
  let sent = 0;
  const headers: [string, string][] = [
    ['Accept', 'application/json'],
    ['User-Agent', 'portico-learn'],
  ];
  if (authorization !== undefined) headers.push(['Authorization', authorization]);
  return {
    sent: () => sent,
    send: async (request) => {
      if (signal.aborted) return undefined;
      await sleep(delayMs, undefined, { signal }).catch(() => undefined);
      const { target, operation, details = false, page, pageSize } = request;
      sent += 1;
      onProgress({ sent: before + sent, operation: operation ?? 'undocumented paths' });
      const response = await fetchJson(upstream, target, headers);
      if (response === undefined) return undefined;
      const { status, json, text } = response;
      const [path = ''] = target.split('?', 1);
      if (operation === undefined) learner.samplePath({ method: 'GET', path, status, json });
      else if (json !== undefined)
        learner.sampleResponse({
          operation,
          status,
          details,
          projected: false,
          wrap: false,
          v1: false,
          page,
          pageSize,
          request: target,
          json,
        });
      if (status === 200) ids.learn(text);
      return { status, json };
    },
  };
}

async function fetchJson(upstream: Upstream, target: string, headers: readonly (readonly [string, string])[]) {
  try {
    const { status, body } = await upstream.exchange({ method: 'GET', target, headers, mode: 'buffered' });
    if (!Buffer.isBuffer(body)) return undefined;
    return { status, text: body.toString('utf8'), json: parsedValue(parseBounded(body, DEFAULT_JSON_LIMITS)) };
  } catch (error) {
    // The walk continues without the information from this request.
    if (error instanceof UpstreamFailure) return undefined;
    throw error;
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
const MAX_DEPTH = 5;
const MAX_ELEMENTS = 20;

/**
 * Returns the issue keys in a ticket, at any depth. An issue key is recognized by its own form or by the name of its
 * field.
 */
export function ticketKeysIn(value: unknown, name = '', depth = 0): readonly string[] {
  if (typeof value === 'string')
    return ISSUE_KEY.test(value) || (isNamed(name) && /^[\w-]{1,40}$/.test(value)) ? [value] : [];
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return [];
  if (Array.isArray(value)) return value.slice(0, MAX_ELEMENTS).flatMap((one) => ticketKeysIn(one, name, depth + 1));
  return Object.entries(value).flatMap(([key, member]) => ticketKeysIn(member, key, depth + 1));
}

const isNamed = (name: string) => NAMED.test(name) && !SECRET.test(name);

/** A request that collects information not provided by the walk through the contract. */
interface LearnRequest {
  /** The id of the requested operation. Undefined for an undocumented path. */
  readonly operation: string | undefined;
  /** The path and query. */
  readonly target: string;
  readonly details?: boolean;
  readonly page?: number;
  readonly pageSize?: number;
  /** The target to request instead if the server refuses the page size. */
  readonly fallback?: string;
}

/** Returns the known ids for a path parameter. */
type IdsOf = (kind: string) => readonly string[];

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
const BASE = '/services/v2';

/**
 * Returns requests for follow relations and for list pages with attachments, because the main walk requests too few of
 * either.
 */
function openPlaceRequests(ids: IdsOf): LearnRequest[] {
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
        // The server's maximum page size may be smaller than the requested page size.
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
 * Returns requests for the tickets of nodes. The specification mentions their paths but does not describe them. Only
 * some nodes have tickets.
 */
function ticketRequests(ids: IdsOf): LearnRequest[] {
  return ids('nodeId')
    .slice(0, TICKETS)
    .map((id) => undocumented(`issuetracker/node/${id}/ticket`));
}

/**
 * Returns requests for the issue keys found in ticket responses. If there are only a few keys, each key is requested
 * several times to provide more evidence.
 */
function ticketKeyRequests(keys: ReadonlySet<string>): LearnRequest[] {
  const some = [...keys].slice(0, TICKETS);
  const times = Math.ceil(FEW / Math.max(1, some.length));
  return some.flatMap((key) =>
    Array.from({ length: times }, () => undocumented(`issuetracker/key/${encodeURIComponent(key)}/ticket`)),
  );
}

/** Returns requests for undocumented paths that clients are known to use. */
function undocumentedRequests(ids: IdsOf): LearnRequest[] {
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

/** The page sizes to request when a list is probed, in order. */
const PROBED_SIZES: readonly number[] = [100, 200, 500, 1000];

/** The lists whose page sizes are probed. No id is needed to request them. */
const PROBED_LISTS: readonly (readonly [operation: string, path: string])[] = [
  ['listQuestions', `${BASE}/question.json`],
  ['listIdeas', `${BASE}/idea.json`],
  ['listArticles', `${BASE}/article.json`],
];

const undocumented = (path: string): LearnRequest => ({ operation: undefined, target: `${BASE}/${path}.json` });

/** Sends one request. Returns undefined if there is no response. */
type SendRequest = (request: LearnRequest) => Promise<{ readonly status: number; readonly json: unknown } | undefined>;

/**
 * Requests increasingly large pages until one contains all items. If the server refuses a size, finds the largest size
 * that it accepts.
 */
async function probePageSizes(send: SendRequest): Promise<void> {
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
