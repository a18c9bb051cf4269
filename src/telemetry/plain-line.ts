import type { Clock } from '../lib/clock.ts';
import { createLogTime } from './log-time.ts';
import type { Trace } from '../model/trace.ts';

/** Writes the text of a request's line, line break included; undefined for a request of which more is to be said. */
export type PlainLine = (trace: Trace, template: string | undefined, caller: string | undefined) => string | undefined;

/**
 * Makes the writer of the line that a good answer from memory gets: the same text as the logger's, put together from a few
 * parts that need no escaping and hardly ever change, because the logger takes longer over it than such an answer does.
 */
export function createPlainLine(clock: Clock): PlainLine {
  const middles = new Map<string, string>();
  const ends = new Map<string, string>();
  const time = createLogTime(clock);
  let now = '';
  let start = '';
  return (trace, template, caller) => {
    if (!isPlain(trace) || template === undefined) return undefined;
    const at = time();
    if (at !== now) {
      now = at;
      start = `{"level":"info","time":"${at}","requestId":"`;
    }
    const { operation = '', status, cache, authentication, bytes = 0, seconds = 0 } = trace;
    const middle =
      (status === 200 ? middles.get(operation) : undefined) ??
      keep(middles, operation, status === 200, () => {
        const path = JSON.stringify(template);
        return `","operation":${JSON.stringify(operation)},"method":"GET","path":${path},"status":${status}`;
      });
    const verifiedHit = cache?.status === 'hit' && authentication?.principal === 'verified' && caller !== undefined;
    const end =
      (verifiedHit ? ends.get(caller) : undefined) ??
      keep(ends, caller ?? '', verifiedHit, () => {
        const who = caller === undefined ? '' : `,"caller":${JSON.stringify(caller)}`;
        return `,"principal":"${authentication?.principal}"${who},"cache":"${cache?.status}","msg":"request"}\n`;
      });
    const traceId = trace.traceparent.slice(3, 35);
    // seconds are multiples of a millisecond of the clock, so that they are short when written.
    return `${start}${trace.requestId}","traceId":"${traceId}${middle},"seconds":${Math.round(seconds * 1e6) / 1e6},"bytes":${bytes}${end}`;
  };
}

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

/** True where a GET was answered from memory and every check passed. */
function isPlain(trace: Trace): boolean {
  return (
    trace.method === 'GET' &&
    trace.operation !== undefined &&
    trace.cache !== undefined &&
    trace.authentication !== undefined &&
    trace.status !== undefined &&
    trace.status < 500 &&
    trace.seconds !== undefined &&
    trace.bytes !== undefined &&
    trace.upstream === undefined &&
    trace.route === undefined &&
    trace.error === undefined &&
    trace.cause === undefined &&
    trace.redacted === undefined &&
    trace.legacyAddress === undefined &&
    trace.violations.length === 0 &&
    trace.undocumented === undefined &&
    trace.responses === undefined &&
    passed(trace.authentication) &&
    passed(trace.requests) &&
    passed(trace.permissions) &&
    passed(trace.pageBounds) &&
    HARMLESS.test(trace.requestId)
  );
}

function passed(verdict: { readonly outcome: string } | undefined): boolean {
  return verdict === undefined || verdict.outcome === 'passed';
}
