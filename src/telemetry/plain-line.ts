import type { Clock } from '../lib/clock.ts';
import type { Trace } from '../model/trace.ts';
import { createLogTime } from './log-time.ts';
import { safePath } from '../privacy/path-text.ts';
import { UNDOCUMENTED } from './label-values.ts';
import type { LineFacts } from './trace-line.ts';

/** Writes the text of a request's line, line break included; undefined for a request of which more is to be said. */
export type PlainLine = (trace: Trace, facts: LineFacts) => string | undefined;

/**
 * Makes the writer of the line that a good answer gets, from memory or from the upstream: the same text as the logger's,
 * put together from a few parts that need no escaping and hardly ever change, because the logger takes longer over it.
 */
export function createPlainLine(clock: Clock): PlainLine {
  const middles = { memory: emptyTexts(), upstream: emptyTexts(), past: emptyTexts() };
  const ends = emptyTexts();
  const time = createLogTime(clock);
  let now = '';
  let start = '';
  return (trace, { template, target, caller }) => {
    const place = template ?? target?.split('?', 1)[0];
    if (place === undefined || !isPlain(trace)) return undefined;
    const at = time();
    if (at !== now) {
      now = at;
      start = `{"level":"info","time":"${at}","requestId":"`;
    }
    const { status, cache, authentication, bytes = 0, seconds = 0 } = trace;
    const kept = template === undefined ? middles.past : trace.route === undefined ? middles.memory : middles.upstream;
    const isOften = status === 200 && place.length <= MAX_PLACE;
    const middle =
      (isOften ? kept.get(place) : undefined) ?? keep(kept, place, isOften, () => middleOf(trace, template, place));
    const verifiedHit = cache?.status === 'hit' && authentication?.principal === 'verified' && caller !== undefined;
    const end =
      (verifiedHit ? ends.get(caller) : undefined) ?? keep(ends, caller ?? '', verifiedHit, () => endOf(trace, caller));
    const traceId = trace.traceparent.slice(3, 35);
    return `${start}${trace.requestId}","traceId":"${traceId}${middle},"seconds":${rounded(seconds)},"bytes":${bytes}${end}`;
  };
}

/** From the operation to the status. */
function middleOf({ operation, route, status }: Trace, template: string | undefined, place: string): string {
  const path = JSON.stringify(template ?? safePath(place));
  const way = route === undefined ? '' : `,"route":"${route}"`;
  return `","operation":${JSON.stringify(operation ?? UNDOCUMENTED)},"method":"GET","path":${path}${way},"status":${status}`;
}

/** What follows the number of bytes. */
function endOf({ authentication, cache, upstream }: Trace, caller: string | undefined): string {
  const who = caller === undefined ? '' : `,"caller":${JSON.stringify(caller)}`;
  const kept = cache === undefined ? '' : `,"cache":"${cache.status}"`;
  return `,"principal":"${authentication?.principal}"${who}${kept}${exchangeOf(upstream)},"msg":"request"}\n`;
}

function exchangeOf(upstream: Trace['upstream']): string {
  if (upstream === undefined) return '';
  const { status, shape, seconds, attempts, requestId } = upstream;
  const named = requestId === undefined ? '' : `,"requestId":"${requestId}"`;
  return `,"upstream":{"status":${status},"shape":"${shape}","seconds":${rounded(seconds)},"attempts":${attempts}${named}}`;
}

// seconds are multiples of a millisecond of the clock, so that they are short when written.
const rounded = (seconds: number) => Math.round(seconds * 1e6) / 1e6;

/** Longer targets are not worth their memory. */
const MAX_PLACE = 200;
const emptyTexts = () => new Map<string, string>();

const MAX_TEXTS = 1000;

/** Makes a part of a line and keeps it, where it is one that comes often. */
function keep(texts: Map<string, string>, key: string, often: boolean, make: () => string): string {
  const made = make();
  if (!often) return made;
  if (texts.size >= MAX_TEXTS) texts.clear();
  texts.set(key, made);
  return made;
}

// What request ids are made of (http/read-arrival); anything else goes through the logger, which escapes.
const HARMLESS = /^[\w.:+/=-]*$/;

/** True where a GET was answered well, from memory or from the upstream, and every check passed. */
function isPlain(trace: Trace): boolean {
  return (
    trace.method === 'GET' &&
    isPlainWay(trace) &&
    trace.authentication !== undefined &&
    trace.status !== undefined &&
    trace.status < 500 &&
    trace.seconds !== undefined &&
    trace.bytes !== undefined &&
    trace.error === undefined &&
    trace.cause === undefined &&
    trace.redacted === undefined &&
    trace.legacyAddress === undefined &&
    trace.violations.length === 0 &&
    passed(trace.authentication) &&
    passed(trace.requests) &&
    passed(trace.permissions) &&
    passed(trace.pageBounds) &&
    passed(trace.undocumented) &&
    passed(trace.responses) &&
    HARMLESS.test(trace.requestId)
  );
}

/** From memory, or by one of the two ways to the upstream with an answer of whose shape nothing is to be said. */
function isPlainWay({ operation, cache, route, upstream }: Trace): boolean {
  if (upstream === undefined) return route === undefined && operation !== undefined && cache !== undefined;
  if (upstream.status === undefined) return false;
  if (route === 'plan') return operation !== undefined && upstream.shape === 'answer';
  return route === 'passthrough' && operation === undefined && cache === undefined && upstream.shape === 'passed';
}

function passed(verdict: { readonly outcome: string } | undefined): boolean {
  return verdict === undefined || verdict.outcome === 'passed';
}
