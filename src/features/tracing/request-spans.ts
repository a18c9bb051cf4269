import type { Attributes, HrTime, Link, SpanContext, SpanKind } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import type { Operation } from '../../engine/model/operation.ts';
import { type Attempt, type CheckVerdict, eachVerdict, type Trace } from '../../engine/model/trace.ts';
import { safePath } from '../../engine/privacy/path-text.ts';
import { siblingSpan } from '../../engine/telemetry/trace-context.ts';
import { spendsErrorBudget } from '../../engine/telemetry/request-metrics.ts';

/** The facts about the gateway that appear in spans. All of them come from the contract and the configuration. */
export interface SpanSubject {
  /** The words in undocumented paths that spans may contain. */
  readonly pathWords: ReadonlySet<string>;
  readonly operations: readonly Pick<Operation, 'id' | 'method' | 'path'>[];
  /** The prefix of the paths that clients use. */
  readonly publicBasePath: string;
  readonly scheme: 'http' | 'https';
  /** The configured public host. The host sent by a client never appears in a span. */
  readonly publicHost: string | undefined;
  /** The base URL of the upstream, without credentials. */
  readonly upstreamUrl: string;
}

/** The properties shared by all spans. */
export type SpanOrigin = Pick<ReadableSpan, 'resource' | 'instrumentationScope'>;

// The values of the enumerations in @opentelemetry/api. That package is loaded only if spans are exported.
const INTERNAL: SpanKind.INTERNAL = 0;
const SERVER: SpanKind.SERVER = 1;
const CLIENT: SpanKind.CLIENT = 2;
const UNSET = 0;
const ERROR = 2;

/** The methods that spans can contain (RFC 9110 and RFC 5789). Every other method becomes `_OTHER`. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH']);

type TimedEvent = ReadableSpan['events'][number];
type UpstreamTrace = NonNullable<Trace['upstream']>;

/**
 * Returns a function that converts the trace of a finished request to spans: one for the request, and one for each
 * attempt to send it to the upstream. There are no spans if the trace is not sampled.
 *
 * Like the access log, spans contain names, numbers and codes, and never values from messages. Paths appear as
 * templates. Queries, headers, people's names, addresses and error messages do not appear.
 */
export function createSpans(subject: SpanSubject, origin: SpanOrigin): (trace: Trace) => readonly ReadableSpan[] {
  const operations = new Map(subject.operations.map((one) => [one.id, one]));
  const server =
    subject.publicHost === undefined ? {} : addressOf(new URL(`${subject.scheme}://${subject.publicHost}`));
  const upstream = new URL(subject.upstreamUrl);
  const basePath = upstream.pathname.replace(/\/$/, '');
  const span = createSpan(origin);

  /** Returns the span of the request, or of background work that the request started. */
  const ownSpan = (trace: Trace, attempts: readonly Attempt[]): ReadableSpan => {
    const { background, parentSpanId, status, cache, leader } = trace;
    const operation = operations.get(trace.operation ?? '');
    const own = spanContext(background === true ? siblingSpan(trace.traceparent) : trace.traceparent);
    const parentId = background === true ? trace.traceparent.slice(36, 52) : parentSpanId;
    const method = METHODS.has(trace.method) ? trace.method : '_OTHER';
    const route = operation && `${subject.publicBasePath}${operation.path}`;
    const hasFailed = spendsErrorBudget(trace);
    const name = background === true ? (cache === undefined ? 'compare' : 'refresh') : httpName(method);
    const links: Link[] = [];
    // If the exchange belongs to another trace, its span cannot be a child of this span, so the two spans are linked.
    for (const { traceparent } of attempts) {
      const context = spanContext(traceparent);
      if (context.traceId !== own.traceId) links.push({ context });
    }
    const joined = attemptsOf(leader?.upstream).at(-1);
    if (joined !== undefined && isSampled(joined.traceparent))
      links.push({ context: spanContext(joined.traceparent), attributes: { 'portico.link': 'coalesced' } });
    const startedAt = trace.startedAt;
    const end = Math.max(startedAt + (trace.seconds ?? 0) * 1000, upstreamEnd(trace.upstream) ?? 0);
    return span({
      name: route === undefined ? name : `${name} ${route}`,
      kind: background === true ? INTERNAL : SERVER,
      context: own,
      parent: parentId === undefined ? undefined : { ...own, spanId: parentId, isRemote: background !== true },
      startedAt,
      end,
      error: hasFailed ? (trace.error ?? failureOf(trace)) : undefined,
      attributes: {
        ...(background === true
          ? {}
          : {
              'http.request.method': method,
              'url.scheme': subject.scheme,
              'url.path': route ?? safePath(trace.target ?? '', subject.pathWords),
              ...server,
              ...(status ? { 'http.response.status_code': status } : {}),
            }),
        ...(route === undefined ? {} : { 'http.route': route }),
        ...(operation === undefined ? {} : { 'portico.operation': operation.id }),
        ...(cache === undefined ? {} : { 'portico.cache': cache.status }),
        ...(trace.error === undefined ? {} : { 'portico.error': trace.error }),
      },
      links,
      events: eventsOf(trace, end),
    });
  };

  const clientSpan = (trace: Trace, attempt: Attempt, index: number, own: ReadableSpan): ReadableSpan => {
    const { startedAt, endedAt, address, failure } = attempt;
    const status = failure === undefined ? trace.upstream?.status : undefined;
    const context = spanContext(attempt.traceparent);
    const url = address === undefined ? upstream : new URL(`${upstream.protocol}//${address}`);
    const operation = operations.get(trace.operation ?? '');
    const sent = operation?.method ?? trace.method;
    const method = METHODS.has(sent) ? sent : '_OTHER';
    const isChild = context.traceId === own.spanContext().traceId;
    return span({
      name: httpName(method),
      kind: CLIENT,
      context,
      parent: isChild ? own.spanContext() : undefined,
      startedAt,
      end: endedAt,
      error: failure ?? (status === undefined ? failureOf(trace) : status >= 400 ? String(status) : undefined),
      attributes: {
        'http.request.method': method,
        'url.full': `${url.origin}${basePath}${operation?.path ?? safePath(trace.target ?? '', subject.pathWords)}`,
        ...addressOf(url),
        ...(status === undefined ? {} : { 'http.response.status_code': status }),
        ...(index > 0 ? { 'http.request.resend_count': index } : {}),
      },
      links: isChild ? [] : [{ context: own.spanContext() }],
      events: [],
    });
  };

  return (trace) => {
    if (!isSampled(trace.traceparent)) return [];
    const attempts = attemptsOf(trace.upstream);
    const own = ownSpan(trace, attempts);
    return [own, ...attempts.map((attempt, index) => clientSpan(trace, attempt, index, own))];
  };
}

/** Returns whether a `traceparent` has the `sampled` flag. Portico sets no other flags. */
export function isSampled(traceparent: string): boolean {
  return traceparent.endsWith('-01');
}

const httpName = (method: string) => (method === '_OTHER' ? 'HTTP' : method);

function spanContext(traceparent: string): SpanContext {
  return { traceId: traceparent.slice(3, 35), spanId: traceparent.slice(36, 52), traceFlags: 1 };
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

function addressOf({ hostname, port, protocol }: URL): Attributes {
  const address = hostname.replace(/^\[(?<inner>.*)\]$/, '$<inner>');
  return { 'server.address': address, 'server.port': port === '' ? (DEFAULT_PORTS[protocol] ?? 0) : Number(port) };
}

/** Returns the reason why a request failed, as a word from a fixed set. */
function failureOf({ failure, upstream, status }: Trace): string {
  return failure?.cause ?? (upstream?.status === undefined ? upstream?.shape : undefined) ?? String(status ?? '_OTHER');
}

/**
 * Returns every attempt to send a request to the upstream. If the attempts were not recorded, as for an upload
 * through the proxy library, there was exactly one attempt.
 */
function attemptsOf(exchange: UpstreamTrace | undefined): readonly Attempt[] {
  const { sent, startedAt, traceparent } = exchange ?? {};
  if (sent !== undefined) return sent;
  if (exchange === undefined || startedAt === undefined || traceparent === undefined) return [];
  const endedAt = upstreamEnd(exchange) ?? startedAt;
  return [{ startedAt, endedAt, traceparent, address: undefined, failure: undefined }];
}

const upstreamEnd = (exchange: UpstreamTrace | undefined) =>
  exchange?.startedAt === undefined ? undefined : exchange.startedAt + exchange.seconds * 1000;

/**
 * Returns events for everything that the stages recorded. The trace does not record when each stage ran. Events from
 * stages before the exchange with the upstream are therefore given the exchange's start time. All other events are
 * given the request's end time.
 */
function eventsOf(trace: Trace, end: number): TimedEvent[] {
  const events: TimedEvent[] = [];
  const { authentication, cache, upstream, responses, redacted, error, status, leader } = trace;
  const before = upstream?.startedAt ?? end;
  const add = (at: number, name: string, attributes: Attributes) =>
    events.push({ time: toHrTime(at), name: `portico.${name}`, attributes, droppedAttributesCount: 0 });
  eachVerdict(trace, (check, verdict) => {
    if (check === 'responses') return;
    const principal = check === 'authentication' ? { 'portico.principal': authentication?.principal } : {};
    add(verdict.outcome === 'passed' ? before : end, check, { ...verdictOf(verdict), ...principal });
  });
  if (cache !== undefined) {
    const { status: result, reason, stored, ageSeconds } = cache;
    add(before, 'cache', {
      'portico.cache': result,
      ...(reason === undefined ? {} : { 'portico.reason': reason }),
      ...(stored === undefined ? {} : { 'portico.stored': stored }),
      ...(ageSeconds === undefined ? {} : { 'portico.age_seconds': ageSeconds }),
    });
  }
  if (leader !== undefined) add(before, 'coalesced', {});
  if (upstream !== undefined) {
    const at = upstreamEnd(upstream) ?? end;
    const attempts = upstream.sent?.length ?? upstream.attempts;
    if (attempts > 1) add(upstream.sent?.[1]?.startedAt ?? at, 'retried', { 'portico.attempts': attempts });
    add(at, 'upstream', {
      'portico.upstream.shape': upstream.shape,
      ...(upstream.status === undefined ? {} : { 'portico.upstream.status_code': upstream.status }),
      ...(trace.failure === undefined ? {} : { 'portico.upstream.failure': trace.failure.cause }),
    });
  }
  if (responses !== undefined)
    add(end, 'responses', {
      ...verdictOf(responses),
      'portico.verdict': responses.verdict,
      'portico.violations': trace.violations.length,
    });
  if (redacted !== undefined && redacted.length > 0) add(end, 'redacted', { 'portico.fields': redacted.length });
  if (error !== undefined) add(end, 'refused', { 'portico.error': error });
  if (status === 0) add(end, 'disconnected', {});
  return events;
}

const verdictOf = ({ level, outcome, reason }: CheckVerdict): Attributes => ({
  'portico.level': level,
  'portico.outcome': outcome,
  ...(reason === undefined || reason === '' ? {} : { 'portico.reason': reason }),
});

/** The properties that differ between spans. Times are in epoch milliseconds. */
interface SpanParts extends Pick<ReadableSpan, 'name' | 'kind' | 'attributes' | 'links' | 'events'> {
  readonly context: SpanContext;
  readonly parent: SpanContext | undefined;
  readonly startedAt: number;
  readonly end: number;
  /** The reason for the failure, as a word from a fixed set. */
  readonly error: string | undefined;
}

function createSpan({ resource, instrumentationScope }: SpanOrigin): (parts: SpanParts) => ReadableSpan {
  return ({ name, kind, attributes, links, events, context, parent, startedAt, end, error }) => ({
    name,
    kind,
    spanContext: () => context,
    ...(parent === undefined ? {} : { parentSpanContext: parent }),
    startTime: toHrTime(startedAt),
    endTime: toHrTime(end),
    duration: toHrTime(end - startedAt),
    ended: true,
    status: error === undefined ? { code: UNSET } : { code: ERROR, message: error },
    attributes: error === undefined ? attributes : { ...attributes, 'error.type': error },
    links,
    events,
    resource,
    instrumentationScope,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  });
}

/** Converts milliseconds to a pair of seconds and nanoseconds, as used by the SDK. */
function toHrTime(ms: number): HrTime {
  return [Math.floor(ms / 1000), Math.round((ms % 1000) * 1e6)];
}
