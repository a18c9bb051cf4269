import { serverErrors } from '../../src/profile/server-errors.ts';
import { PROFILE } from '../../src/profile/profile.ts';
import { createResponseHeaders } from '../../src/engine/upstream/response-headers.ts';
import { UPSTREAM_DEFAULTS } from '../../src/engine/upstream/upstream-options.ts';
import { Readable } from 'node:stream';
import {
  DEFAULT_CACHE_OPTIONS,
  type OperationCacheConfig,
  toOperationCacheOptions,
} from '../../src/engine/cache/cache-options.ts';
import type { Arrival } from '../../src/engine/model/arrival.ts';
import { MODES } from '../../src/engine/model/modes.ts';
import type { ParameterValues } from '../../src/engine/contract/values.ts';
import type { HeaderPairs } from '../../src/engine/model/header-pairs.ts';
import type { Operation } from '../../src/engine/model/operation.ts';
import { type Principal, verifiedAudience } from '../../src/engine/model/principal.ts';
import { createTrace, type Trace } from '../../src/engine/model/trace.ts';
import type { Violation } from '../../src/engine/model/violation.ts';
import { toRequestedPage } from '../../src/engine/paging/requested-page.ts';
import type { Grants } from '../../src/engine/permissions/decide.ts';
import { bodyFactsOf } from '../../src/engine/pipeline/body-facts.ts';
import type { Reply } from '../../src/engine/pipeline/reply.ts';
import type { Exchange } from '../../src/engine/pipeline/exchange.ts';
import type { Handler, StagePlanner, PlannedOperation } from '../../src/engine/pipeline/stage.ts';

/** Creates a documented list operation with paging. Its responses can be cached. */
export function operationWith(more: Partial<Operation> = {}): Operation {
  return {
    id: 'listThings',
    row: 6,
    method: 'GET',
    path: '/services/v2/thing.json',
    summary: 'Things',
    since: undefined,
    provenance: 'observed',
    needsCredential: false,
    identityIndependent: true,
    requires: { permission: 'See things' },
    needsFeature: undefined,
    parameters: [],
    unknownParameters: 'refuse',
    mayBePrivate: false,
    itemsAt: 'list',
    paging: { firstPage: 1, observedPageSize: 15, hasPageCount: true },
    changes: undefined,
    cacheability: { byDefault: true, tags: ['things'] },
    purges: [],
    privateFields: undefined,
    semanticRules: [],
    requestRules: [],
    requestBody: undefined,
    statuses: [200],
    documentedErrors: [],
    serverErrors,
    documentedForm: serverErrors[0],
    documentedFields: ['list', 'pageCount', 'totalCount'],
    ...more,
  };
}

/**
 * Values that replace a planned operation's defaults. All properties are optional, including those of `operation` and
 * `checks`.
 */
export type PlannedParts = Partial<Omit<PlannedOperation, 'operation' | 'checks'>> & {
  readonly operation?: Partial<Operation>;
  readonly checks?: Partial<PlannedOperation['checks']>;
};

/**
 * Creates a planned operation with the check levels of `strict` mode. Its responses are not cached unless a test
 * enables caching.
 */
export function plannedWith({ operation, checks, ...more }: PlannedParts = {}): PlannedOperation {
  const { errors = 'normalized', transparent = false } = more;
  return {
    operation: operationWith(operation),
    items: PROFILE.items,
    checks: { ...MODES.strict.checks, ...checks },
    errors,
    translation: errors === 'normalized' ? 'enforce' : transparent ? 'report' : 'off',
    transparent,
    serviceCredential: false,
    pageVersion: 'v',
    maxPageSize: 100,
    defaultPageSize: undefined,
    responseHeaders: createResponseHeaders(UPSTREAM_DEFAULTS.responseHeaders),
    cache: undefined,
    ...more,
  };
}

/**
 * Creates cache options. By default, responses are fresh for 30 s, may be stale for 30 s while they are revalidated,
 * and may be stale for 300 s if errors occur.
 */
export function kept(config: OperationCacheConfig = {}): NonNullable<PlannedOperation['cache']> {
  return toOperationCacheOptions(DEFAULT_CACHE_OPTIONS, { byDefault: true, on: true }, config);
}

/** Creates an incoming request, which has an empty body by default. */
export function arrivalWith(more: Partial<Arrival> = {}): Arrival {
  return {
    method: 'GET',
    rawTarget: more.target ?? '/services/v2/thing.json',
    target: '/services/v2/thing.json',
    path: '/services/v2/thing.json',
    query: undefined,
    authorization: undefined,
    otherCredential: undefined,
    headers: {},
    rawHeaders: [],
    clientAddress: '127.0.0.1',
    protocol: 'http',
    host: undefined,
    requestId: 'request-1',
    traceparent: '00-1-2-00',
    tracestate: undefined,
    receivedAt: 1_000,
    body: Readable.from([]),
    ...more,
  };
}

/** Creates a POST request whose body contains these bytes. */
export function arrivalOf(body: string | Buffer, more: Partial<Arrival> = {}): Arrival {
  return arrivalWith({ method: 'POST', body: Readable.from([Buffer.from(body)]), ...more });
}

/** Creates a verified caller. */
export function callerNamed(name: string, more: Partial<Principal> = {}): Principal {
  return { kind: 'verified', name, audience: verifiedAudience(name), authorization: `Basic ${name}`, ...more };
}

/** Creates the grants that a caller gets from the roles file. */
export function grantsWith(more: Partial<Grants> = {}): Grants {
  return { bits: new Uint32Array(1), roles: ['standard'], delegated: false, denied: false, key: 'key', ...more };
}

/** Overrides for an exchange. */
export type ExchangeParts = Partial<Omit<Exchange, 'values'>> & { readonly values?: Partial<ParameterValues> };

/** Creates an exchange for a verified caller. */
export function exchangeWith({ values, ...more }: ExchangeParts = {}): Exchange {
  const arrival = more.arrival ?? arrivalWith();
  const decoded = { ...NO_VALUES, ...values };
  return {
    arrival,
    principal: callerNamed('alice'),
    grants: grantsWith(),
    audience: 'caller:verified:user:alice',
    values: () => decoded,
    requestedPage: toRequestedPage(decoded, more.target ?? arrival.target),
    target: arrival.target,
    delegated: false,
    trace: traceWith(),
    ...more,
  };
}

const NO_VALUES: ParameterValues = {
  path: {},
  query: new Map(),
  page: undefined,
  pageSize: undefined,
  sort: undefined,
  spaceId: undefined,
  projection: undefined,
  details: false,
  active: true,
  wrap: false,
  v1: false,
};

/** Creates an empty trace. */
export function traceWith(more: Partial<Trace> = {}): Trace {
  return Object.assign(
    createTrace({ requestId: 'request-1', traceparent: '00-1-2-00', method: 'GET', startedAt: 1_000 }),
    more,
  );
}

/** Returns the body of a page of things. */
export function pageOf(ids: readonly number[], pageCount = 3): unknown {
  return { list: ids.map((id) => ({ id })), pageCount, totalCount: pageCount * 15 };
}

/** Creates a checked JSON response from the upstream. */
export function replyWith(json: unknown, more: Partial<Reply> = {}): Reply {
  const { pageCount } = (json ?? {}) as { readonly pageCount?: number };
  return {
    status: 200,
    headers: JSON_TYPE,
    body: Buffer.from(JSON.stringify(json)),
    facts: { validity: 'valid', body: bodyFactsOf(plannedWith({ cache: kept() }), json) },
    ...(pageCount === undefined ? {} : { pageCount }),
    ...more,
  };
}

/** The only header in a simple JSON response. */
export const JSON_TYPE: HeaderPairs = [['Content-Type', 'application/json;charset=UTF-8']];

/** A stand-in for the later stages of a plan. It returns the test's replies and records the exchanges. */
export interface FakeNext {
  readonly handle: Handler;
  readonly asked: Exchange[];
  /** Creates the reply to an exchange. A test can replace this function at any time. */
  respond: (exchange: Exchange) => Reply | Promise<Reply>;
}

/** Creates a stand-in for the later stages. It can return the same body any number of times. */
export function createNext(respond: Reply | FakeNext['respond'] = replyWith(pageOf([1]))): FakeNext {
  const next: FakeNext = {
    asked: [],
    respond: typeof respond === 'function' ? respond : () => respond,
    handle: async (exchange) => {
      next.asked.push(exchange);
      return next.respond(exchange);
    },
  };
  return next;
}

/**
 * Returns a handler that runs one stage, with `next` in place of all later stages. The handler always returns a
 * promise. Throws if the operation does not need the stage.
 */
export function stageIn(
  planner: StagePlanner,
  planned: PlannedOperation,
  next: FakeNext,
): (exchange: Exchange) => Promise<Reply> {
  const stage = planner.plan(planned);
  if (stage === undefined) throw new Error(`${planner.name} has no work for ${planned.operation.id}`);
  const handle = stage(next.handle);
  return async (exchange) => handle(exchange);
}

/** Creates a violation. Tests override only the members that matter to them. */
export function violationWith(more: Partial<Violation> = {}): Violation {
  return {
    check: 'requests',
    direction: 'request',
    category: 'type',
    location: 'query',
    at: 'page',
    keyword: 'type',
    schemaPath: '',
    message: 'page must be an integer',
    ...more,
  };
}

/** Returns the error with which a promise rejects. Throws if the promise resolves. */
export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

/** Returns the text of a complete body. */
export function textOf(body: Reply['body'] | Readable | undefined): string {
  if (!Buffer.isBuffer(body)) throw new Error('the body is not whole');
  return body.toString();
}
