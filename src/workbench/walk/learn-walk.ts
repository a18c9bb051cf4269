import type { Learner } from '../../learner/create-learner.ts';
import { isSizeRefusal } from '../../learner/sample/page-sizes.ts';
import { DEFAULT_JSON_LIMITS, parseBounded, parsedValue } from '../../lib/bounded-json.ts';
import { UpstreamFailure } from '../../engine/model/upstream-failure.ts';
import type { Upstream } from '../../engine/upstream/create-upstream.ts';
import type { Exploration, LearningRequest } from '../../engine/contract/exploration.ts';
import { pauseFor } from '../../lib/pause.ts';
import { createKnownIds, type KnownIds } from './walk-requests.ts';
import { toSampledResponse } from '../../learner/sample/sampled-response.ts';
import { walk, type WalkSummary } from './walk.ts';
import { type GatewayToWalk, toWalkedGateway } from './send-walk-request.ts';

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
  walkedGateway: GatewayToWalk,
  upstream: Upstream,
  learner: Learner,
  options: LearnWalkOptions,
): Promise<LearnWalkSummary> {
  const { exploration } = walkedGateway.settings.profile;
  const ids = createKnownIds(options.ids, exploration);
  const walked = await walk(
    toWalkedGateway(walkedGateway),
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
  let bodies: readonly unknown[] = [];
  for (const step of exploration.learningSteps) {
    const found: unknown[] = [];
    for (const request of step(ids.of, bodies)) {
      const { status = 0, json } = (await sender.send(request)) ?? {};
      if (status === 200) found.push(json);
      const { operation, fallback, page } = request;
      if (isSizeRefusal(status) && fallback !== undefined)
        await sender.send({ operation, target: fallback, ...(page !== undefined && { page }) });
    }
    bodies = found;
  }
  if (options.probePageSize) await probePageSizes(exploration.probedLists, sender.send);
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
      await pauseFor(delayMs, signal);
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

/** The page sizes to request when a list is probed, in order. */
const PROBED_SIZES: readonly number[] = [100, 200, 500, 1000];

/** Sends one request. Returns undefined if there is no response. */
type SendRequest = (
  request: LearningRequest,
) => Promise<{ readonly status: number; readonly json: unknown } | undefined>;

/**
 * Requests increasingly large pages until one contains all items. If the server refuses a size, finds the largest size
 * that it accepts.
 */
async function probePageSizes(lists: Exploration['probedLists'], send: SendRequest): Promise<void> {
  for (const { operation, path } of lists) {
    const requestPage = (pageSize: number) => send({ operation, target: `${path}?pageSize=${pageSize}`, pageSize });
    let accepted = 1;
    for (const size of PROBED_SIZES) {
      const { status, json } = (await requestPage(size)) ?? { status: 0, json: undefined };
      if (isSizeRefusal(status)) await bisect(requestPage, accepted, size);
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
    if (status !== 200 && !isSizeRefusal(status)) return;
    if (status === 200) low = middle;
    else high = middle;
  }
}
