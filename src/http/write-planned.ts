import type { ServerResponse } from 'node:http';
import { createAcceptsGzip } from '../cache/gzip.ts';
import type { PageCache } from '../cache/page-cache.ts';
import { headerValue, type HeaderPairs } from '../model/header-pairs.ts';
import type { Trace } from '../model/trace.ts';
import type { Plan } from '../pipeline/plan.ts';
import type { Reply } from '../pipeline/reply.ts';
import { visibleHeaders } from '../pipeline/visible-headers.ts';
import { edgeFields, type EdgeFieldOptions } from './edge-fields.ts';
import { writeReply } from './write-reply.ts';

/** What of the request decides how the reply of a plan is written. */
export interface AskedAs {
  readonly method: string;
  readonly fields: { readonly ifNoneMatch: string | undefined; readonly acceptEncoding: string | undefined };
  readonly trace: Trace;
}

/** Answers that are not kept here must not be kept anywhere else either. */
const UNCACHED: HeaderPairs = [['Cache-Control', 'private, no-store']];

/** What of the gateway decides how the reply of a plan is written. */
export interface WritePlannedOptions extends EdgeFieldOptions {
  /** Gives the gzip form of a kept page. */
  readonly gzip: PageCache['gzip'];
}

const acceptsGzip = createAcceptsGzip();

/** Writes the reply of a plan with the fields that a client of that plan gets; gives the bytes of body sent. */
export function writePlanned(
  res: ServerResponse,
  plan: Plan,
  reply: Reply,
  { method, fields, trace }: AskedAs,
  options: WritePlannedOptions,
): number | Promise<number> {
  const finished = plan.transparent || plan.cache !== undefined;
  const visible = finished ? reply : { ...reply, headers: [...visibleHeaders(reply.headers), ...UNCACHED] };
  const gzip = acceptsGzip(fields.acceptEncoding) ? gzipOf(reply, options) : undefined;
  return writeReply(res, visible, {
    gzip,
    method,
    ifNoneMatch: plan.transparent ? undefined : fields.ifNoneMatch,
    extra: [...edgeFields(trace, options, visible.headers), ...sniffingHeaders(visible)],
  });
}

const NO_SNIFFING: HeaderPairs = [['X-Content-Type-Options', 'nosniff']];

/**
 * Keeps browsers from making a page of a response that is not JSON, in every mode: the upstream may have put text of its users
 * into it. That is safe for documented operations, which no page loads as a script or a style sheet.
 */
function sniffingHeaders({ status, headers }: Reply): HeaderPairs {
  const type = headerValue(headers, 'content-type');
  if (type !== undefined && JSON_TYPE.test(type)) return [];
  const hasBody = status !== 204 && status !== 304;
  return hasBody && headerValue(headers, 'x-content-type-options') === undefined ? NO_SNIFFING : [];
}

const JSON_TYPE = /^\s*application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;

function gzipOf({ keptAs, body }: Reply, { gzip }: WritePlannedOptions): Buffer | undefined {
  return keptAs === undefined || !Buffer.isBuffer(body) ? undefined : gzip(keptAs, body);
}
