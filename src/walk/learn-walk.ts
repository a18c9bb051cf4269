import { setTimeout as sleep } from 'node:timers/promises';
import type { Learner } from '../learn/create-learner.ts';
import { isRefusal } from '../learn/sample/page-sizes.ts';
import { DEFAULT_JSON_LIMITS, parseBounded, parsedValue } from '../lib/bounded-json.ts';
import { UpstreamFailure } from '../model/upstream-failure.ts';
import type { CompiledGateway } from '../pipeline/compiled-gateway.ts';
import type { Upstream } from '../upstream/create-upstream.ts';
import { createKnownIds, type KnownIds } from './known-ids.ts';
import {
  undocumentedRequests,
  type SendRequest,
  openPlaceRequests,
  probePageSizes,
  ticketKeyRequests,
  ticketRequests,
} from './learn-requests.ts';
import { toSampledResponse } from './sampled-response.ts';
import type { WalkSummary } from './walk-tally.ts';
import { walk } from './walk.ts';
import { toWalkedGateway } from './send-walk-request.ts';

/** Options for a walk that samples the upstream. */
interface LearnWalkOptions {
  /** The value of `Authorization`; undefined for an anonymous walk. */
  readonly authorization: string | undefined;
  /** Ids from the command line, by path parameter. */
  readonly ids: ReadonlyMap<string, readonly string[]>;
  /** The maximum number of requests in the walk over the contract. About one hundred additional requests follow. */
  readonly maxRequests: number;
  readonly delayMs: number;
  readonly signal: AbortSignal;
  readonly probePageSize: boolean;
  readonly onProgress: (progress: {
    readonly sent: number;
    /** The number of requests still queued for the walk over the contract; undefined once that walk has ended. */
    readonly left?: number | undefined;
    readonly operation: string;
  }) => void;
}

/** The result of the walk. */
interface LearnWalkSummary {
  readonly walked: WalkSummary;
  /** The number of additional requests after the walk over the contract. */
  readonly further: number;
}

interface Sender {
  readonly send: SendRequest;
  readonly sent: () => number;
}

/**
 * Requests the contract's safe operations and then sends additional requests, one at a time. The learner samples every
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
 * Matches the names of keys with secret values. In a request path, such a value would appear in the logs of the server
 * and its proxies.
 */
const SECRET =
  /(?:access|api|auth|cert(?:ificate)?|encryption|host|licen[cs]e|master|pass|private|public|secret|security|service|session|shared|sign(?:ing)?|ssh|token)[_-]?key$/i;
const ISSUE_KEY = /^[A-Z][A-Z0-9_]{1,19}-\d{1,9}$/;
const MAX_DEPTH = 5;
const MAX_ELEMENTS = 20;

/** Returns the issue keys in a ticket, at any depth. A key is recognized by its form or by the name of its field. */
export function ticketKeysIn(value: unknown, name = '', depth = 0): readonly string[] {
  if (typeof value === 'string')
    return ISSUE_KEY.test(value) || (isNamed(name) && /^[\w-]{1,40}$/.test(value)) ? [value] : [];
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return [];
  if (Array.isArray(value)) return value.slice(0, MAX_ELEMENTS).flatMap((one) => ticketKeysIn(one, name, depth + 1));
  return Object.entries(value).flatMap(([key, member]) => ticketKeysIn(member, key, depth + 1));
}

const isNamed = (name: string) => NAMED.test(name) && !SECRET.test(name);
