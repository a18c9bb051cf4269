import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** The trace context that Portico forwards: the caller's trace continued with Portico's own span, or a new trace. */
interface TraceContext {
  readonly traceparent: string;
  readonly tracestate: string | undefined;
  readonly traceId: string;
}

// W3C Trace Context, 3.2: version, trace-id, parent-id and flags. A later version may add more after another dash.
const TRACEPARENT =
  /^(?<version>[0-9a-f]{2})-(?<traceId>[0-9a-f]{32})-(?<parentId>[0-9a-f]{16})-(?<flags>[0-9a-f]{2})(?<more>-.*)?$/;
const MEMBER = /^[a-z0-9][a-z0-9_*/@-]{0,255}=[\u0020-\u002b\u002d-\u003c\u003e-\u007e]{1,256}$/;
const MAX_MEMBERS = 32;
const MAX_CHARACTERS = 512;

const POOL_BYTES = 4096;

const randomHex = createRandomHex();

/**
 * Reads `traceparent` and `tracestate`. If `traceparent` is malformed, starts a new trace and drops `tracestate`
 * (3.2.2.3).
 */
export function traceContext(headers: IncomingHttpHeaders): TraceContext {
  const parent = headers['traceparent'];
  const parsed = typeof parent === 'string' ? parseParent(parent) : undefined;
  const spanId = randomHex(16);
  if (parsed === undefined) {
    const traceId = randomHex(32);
    return { traceparent: `00-${traceId}-${spanId}-00`, tracestate: undefined, traceId };
  }
  return {
    traceparent: `00-${parsed.traceId}-${spanId}-${parsed.flags}`,
    tracestate: boundState(headers['tracestate']),
    traceId: parsed.traceId,
  };
}

function parseParent(text: string): { traceId: string; flags: string } | undefined {
  const groups = text.length <= 256 ? TRACEPARENT.exec(text)?.groups : undefined;
  if (groups === undefined) return undefined;
  const { version, traceId = '', parentId = '', flags = '00', more } = groups;
  if (version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(parentId)) return undefined;
  // Version 00 defines only the sampled flag; all other flags are sent as zero.
  return { traceId, flags: Number.parseInt(flags, 16) & 1 ? '01' : '00' };
}

function boundState(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  const members = (Array.isArray(header) ? header.join(',') : header)
    .split(',')
    .map((member) => member.trim())
    .filter((member) => member !== '');
  // One malformed or duplicate member invalidates the whole list (3.3.1.2).
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

/** Returns the given number of random hexadecimal digits (at most 64). Each call returns new digits. */
type RandomHex = (digits: number) => string;

/** Creates a generator with a pool of random bytes. One system call per id would cost more than serving a cache hit. */
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
