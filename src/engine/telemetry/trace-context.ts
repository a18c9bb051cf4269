import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Attempt, AttemptLog } from '../model/trace.ts';

/** The trace context of a request, which continues the caller's trace with Portico's own span or begins a new trace. */
export interface TraceContext {
  /**
   * The header to forward. It contains the span of the exchange with the upstream if spans are exported, and Portico's
   * own span otherwise.
   */
  readonly traceparent: string;
  readonly tracestate: string | undefined;
  readonly traceId: string;
  /** Portico's own span for the request, in the format of `traceparent`. */
  readonly own: string;
  /** The id of the caller's span. Undefined if Portico started the trace. */
  readonly parentId: string | undefined;
}

/** Decides which traces are sampled, that is, exported. */
export interface Sampling {
  /** The fraction, from 0 to 1, of traces to sample when Portico makes the decision. */
  readonly ratio: number;
  /** The callers whose `sampled` flag takes precedence over the fraction. */
  readonly follow: 'trustedProxies' | 'everyone' | 'nobody';
}

// `traceparent` has four fields (W3C Trace Context, 3.2). A later version may add more fields after another dash.
const TRACEPARENT =
  /^(?<version>[0-9a-f]{2})-(?<traceId>[0-9a-f]{32})-(?<parentId>[0-9a-f]{16})-(?<flags>[0-9a-f]{2})(?<more>-.*)?$/;
const MEMBER = /^[a-z0-9][a-z0-9_*/@-]{0,255}=[\u0020-\u002b\u002d-\u003c\u003e-\u007e]{1,256}$/;
const MAX_MEMBERS = 32;
const MAX_CHARACTERS = 512;

const POOL_BYTES = 4096;

const randomHex = createRandomHex();

/**
 * Reads `traceparent` and `tracestate`. If `traceparent` is malformed, starts a new trace and drops `tracestate`
 * (W3C Trace Context, 3.2.2.3).
 */
export function traceContext(headers: IncomingHttpHeaders): TraceContext {
  const parent = headers['traceparent'];
  const parsed = typeof parent === 'string' ? parseParent(parent) : undefined;
  const spanId = randomHex(16);
  if (parsed === undefined) {
    const traceId = randomHex(32);
    const traceparent = `00-${traceId}-${spanId}-00`;
    return { traceparent, tracestate: undefined, traceId, own: traceparent, parentId: undefined };
  }
  const { traceId, parentId, flags } = parsed;
  const traceparent = `00-${traceId}-${spanId}-${flags}`;
  return { traceparent, tracestate: boundState(headers['tracestate']), traceId, own: traceparent, parentId };
}

/**
 * Reads the trace context like {@link traceContext}, decides whether the trace is sampled, and adds the span of the
 * exchange with the upstream. `isTrusted` is true if the request comes from a trusted proxy.
 *
 * The decision never depends on an id chosen by an untrusted caller, who could otherwise choose ids that are always
 * sampled.
 */
export function sampledContext(headers: IncomingHttpHeaders, sampling: Sampling, isTrusted: boolean): TraceContext {
  const { own, tracestate, traceId, parentId } = traceContext(headers);
  const { ratio, follow } = sampling;
  const isFollowed = follow === 'everyone' || (follow === 'trustedProxies' && isTrusted);
  const decidedBy = parentId === undefined || isTrusted ? traceId : own.slice(36, 52);
  const isSampled = parentId !== undefined && isFollowed ? own.endsWith('1') : isWithin(ratio, decidedBy);
  const flags = isSampled ? '01' : '00';
  return {
    traceparent: `00-${traceId}-${randomHex(16)}-${flags}`,
    tracestate,
    traceId,
    own: `${own.slice(0, 53)}${flags}`,
    parentId,
  };
}

/** Returns the `traceparent` of another span in the same trace and with the same flags. */
export function siblingSpan(traceparent: string): string {
  return `${traceparent.slice(0, 36)}${randomHex(16)}${traceparent.slice(52)}`;
}

/**
 * Creates the log of an exchange's attempts. The first attempt has the given `traceparent`, and each later attempt has
 * its own.
 */
export function logAttempts(traceparent: string): AttemptLog {
  const attempts: Attempt[] = [];
  return { attempts, next: () => (attempts.length === 0 ? traceparent : siblingSpan(traceparent)) };
}

const RANDOM_DIGITS = 13;

/**
 * Returns whether an id falls within the given fraction of all ids. The comparison uses the last digits, as in
 * OpenTelemetry's consistent sampling, so that all services with the same ratio sample the same traces.
 */
function isWithin(ratio: number, id: string): boolean {
  return Number.parseInt(id.slice(-RANDOM_DIGITS), 16) >= (1 - ratio) * 16 ** RANDOM_DIGITS;
}

function parseParent(text: string): { traceId: string; parentId: string; flags: string } | undefined {
  const groups = text.length <= 256 ? TRACEPARENT.exec(text)?.groups : undefined;
  if (groups === undefined) return undefined;
  const { version, traceId = '', parentId = '', flags = '00', more } = groups;
  if (version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(parentId)) return undefined;
  // Version 00 defines only the sampled flag. All other flags are sent as zero.
  return { traceId, parentId, flags: Number.parseInt(flags, 16) & 1 ? '01' : '00' };
}

function boundState(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  const members = (Array.isArray(header) ? header.join(',') : header)
    .split(',')
    .map((member) => member.trim())
    .filter((member) => member !== '');
  // One malformed or duplicate member invalidates the whole list (W3C Trace Context, 3.3.1.2).
  const keys = new Set(members.map((member) => member.slice(0, member.indexOf('='))));
  if (members.length === 0 || keys.size !== members.length || !members.every((member) => MEMBER.test(member)))
    return undefined;
  const forwarded: string[] = [];
  let length = 0;
  for (const member of members.slice(0, MAX_MEMBERS)) {
    length += member.length + 1;
    if (length - 1 > MAX_CHARACTERS) break;
    forwarded.push(member);
  }
  return forwarded.length === 0 ? undefined : forwarded.join(',');
}

/** Returns the given number of new random hexadecimal digits (at most 64). */
type RandomHex = (digits: number) => string;

/**
 * Creates a generator that takes ids from a pool of random bytes. One system call per id would cost more than serving
 * a cache hit.
 */
export function createRandomHex(fill: (bytes: number) => Buffer = randomBytes): RandomHex {
  let pool = '';
  let used = 0;
  return (digits) => {
    if (used + digits > pool.length) {
      pool = fill(POOL_BYTES).toString('hex');
      used = 0;
    }
    used += digits;
    return pool.slice(used - digits, used);
  };
}
