import type { Clock } from '../lib/clock.ts';
import type { Trace } from '../model/trace.ts';

/** Writes the text of a request's line, line break included; undefined for a request of which more is to be said. */
export type PlainLine = (trace: Trace, template: string | undefined, caller: string | undefined) => string | undefined;

/**
 * Makes the writer of the line that a good answer from memory gets: the same text as the logger's, put together from parts
 * that need no escaping, because the logger takes longer over it than such an answer does.
 */
export function createPlainLine(clock: Clock): PlainLine {
  const texts = new Map<string, string>();
  /** Names of operations, templates and callers come again and again; few enough are kept. */
  const quoted = (text: string): string => {
    const known = texts.get(text);
    if (known !== undefined) return known;
    if (texts.size >= MAX_TEXTS) texts.clear();
    const made = JSON.stringify(text);
    texts.set(text, made);
    return made;
  };
  let now = Number.NaN;
  let time = '';
  return (trace, template, caller) => {
    const { operation, status, seconds, bytes, authentication, cache } = trace;
    if (!isPlain(trace) || operation === undefined || template === undefined || cache === undefined) return undefined;
    if (status === undefined || seconds === undefined || bytes === undefined) return undefined;
    const at = clock();
    if (at !== now) {
      now = at;
      time = new Date(at).toISOString();
    }
    return (
      `{"level":"info","time":"${time}","requestId":"${trace.requestId}","traceId":"${trace.traceparent.slice(3, 35)}"` +
      `,"operation":${quoted(operation)},"method":"${trace.method}","path":${quoted(template)},"status":${status}` +
      `,"seconds":${Math.round(seconds * 1e6) / 1e6},"bytes":${bytes},"principal":"${authentication?.principal ?? ''}"` +
      `${caller === undefined ? '' : `,"caller":${quoted(caller)}`},"cache":"${cache.status}","msg":"request"}\n`
    );
  };
}

const MAX_TEXTS = 1000;
// What request ids are made of (http/read-arrival); anything else goes through the logger, which escapes.
const HARMLESS = /^[\w.:+/=-]*$/;

/** True where every check passed and nothing was asked of the upstream. */
function isPlain(trace: Trace): boolean {
  return (
    trace.upstream === undefined &&
    trace.route === undefined &&
    trace.error === undefined &&
    trace.cause === undefined &&
    trace.redacted === undefined &&
    trace.legacyAddress === undefined &&
    trace.violations.length === 0 &&
    trace.status !== undefined &&
    trace.status < 500 &&
    passed(trace.authentication) &&
    passed(trace.requests) &&
    passed(trace.permissions) &&
    passed(trace.pageBounds) &&
    trace.authentication !== undefined &&
    trace.undocumented === undefined &&
    trace.responses === undefined &&
    HARMLESS.test(trace.requestId) &&
    HARMLESS.test(trace.method)
  );
}

function passed(verdict: { readonly outcome: string } | undefined): boolean {
  return verdict === undefined || verdict.outcome === 'passed';
}
