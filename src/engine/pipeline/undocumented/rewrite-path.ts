import type { PublicOrigin } from '../../model/arrival.ts';
import { headerValue, type HeaderPairs } from '../../model/header-pairs.ts';
import { StreamedBody } from '../../model/streamed-body.ts';
import type { Trace } from '../../model/trace.ts';
import {
  createLegacyAddressRewriter,
  createLegacyAddressScan,
  type LegacyAddresses,
  publicForm,
  rewriteText,
} from '../../upstream/legacy-addresses.ts';
import { contentCodings } from '../../upstream/response-body.ts';
import type { PassthroughExchange } from '../exchange.ts';
import type { Reply } from '../reply.ts';
import type { Stage } from '../stage.ts';
import { trimEndOf } from '../../../lib/trim-end.ts';

/** Options for handling the legacy server's addresses in responses from undocumented paths. */
export interface AddressServices {
  readonly legacy: LegacyAddresses;
  /** True if addresses are also rewritten in bodies (docs/rules.md §11). */
  readonly rewriteUrls: boolean;
  /** Returns the gateway's public base address for a scheme and host. */
  readonly publicAddress: (origin: PublicOrigin) => string;
}

/** Replaces the legacy address with the public one in headers and, if configured, in bodies. */
export function rewritePath({ legacy, rewriteUrls, publicAddress }: AddressServices): Stage<PassthroughExchange> {
  return (next) => async (exchange) => {
    const reply = await next(exchange);
    const address = publicAddress(exchange.arrival);
    const headers = publicHeaders(reply.headers, legacy, address);
    if (!rewriteUrls) reportAddresses(reply, exchange.trace, legacy);
    if (!rewriteUrls || Buffer.isBuffer(reply.body) || !isText(headers)) return { ...reply, headers };
    return { ...reply, headers: changedLength(headers), body: rewrittenBody(reply.body, legacy, address) };
  };
}

/** Reports addresses of the legacy server in bodies, which are forwarded unchanged. */
export function findAddresses({ legacy }: { readonly legacy: LegacyAddresses }): Stage<PassthroughExchange> {
  return (next) => async (exchange) => {
    const reply = await next(exchange);
    reportAddresses(reply, exchange.trace, legacy);
    return reply;
  };
}

/** Searches a streamed body for addresses of the legacy server. The trace records whether the body contains any. */
function reportAddresses({ headers, body }: Reply, trace: Trace, legacy: LegacyAddresses): void {
  if (Buffer.isBuffer(body) || !isText(headers)) return;
  body.onPart(
    createLegacyAddressScan(legacy, () => {
      trace.legacyAddress = true;
    }),
  );
}

/** Returns whether a body can contain addresses. Encoded bodies are neither searched nor rewritten. */
function isText(headers: HeaderPairs): boolean {
  const type = headerValue(headers, 'content-type') ?? '';
  return (
    contentCodings(headers).length === 0 &&
    /^\s*(?:text\/|application\/(?:[\w.+-]*\+)?(?:json|xml|javascript))/i.test(type)
  );
}

function rewrittenBody(received: StreamedBody, legacy: LegacyAddresses, address: string): StreamedBody {
  const rewriter = createLegacyAddressRewriter(legacy, address);
  let isFull = false;
  const rewritten = new StreamedBody({
    pause: () => (isFull = true),
    resume() {
      isFull = false;
      received.resume();
    },
    abort: (reason) => received.destroy(reason),
  });
  received.read({
    part(bytes) {
      rewritten.push(rewriter.part(bytes));
      return !isFull;
    },
    end(failure) {
      if (failure === undefined) rewritten.push(rewriter.rest());
      rewritten.finish(failure);
    },
  });
  return rewritten;
}

// The length and any strong validator describe the original bytes, so they do not apply to the rewritten bytes.
function changedLength(headers: HeaderPairs): HeaderPairs {
  return headers.flatMap(([name, value]): HeaderPairs => {
    const key = name.toLowerCase();
    if (/^(?:content-length|content-md5|digest|content-digest|repr-digest|accept-ranges)$/.test(key)) return [];
    return [[name, key === 'etag' && !value.startsWith('W/') ? `W/${value}` : value]];
  });
}

// Headers whose entire value is an address, and headers that contain addresses among other values.
const ADDRESS = new Set(['location', 'content-location']);
const ADDRESSES = new Set(['refresh', 'link']);
const REWRITTEN = [...ADDRESS, ...ADDRESSES, 'set-cookie'];

/** Replaces the legacy address with the public one in response headers that contain addresses or cookies. */
export function publicHeaders(headers: HeaderPairs, legacy: LegacyAddresses, publicAddress: string): HeaderPairs {
  if (!REWRITTEN.some((name) => headerValue(headers, name) !== undefined)) return headers;
  return headers.map(([name, value]) => {
    const key = name.toLowerCase();
    if (key === 'set-cookie') return [name, publicCookie(value, legacy, publicAddress)];
    if (ADDRESS.has(key)) return [name, publicLocation(value, legacy, publicAddress)];
    return [name, ADDRESSES.has(key) ? rewriteText(value, legacy, publicAddress) : value];
  });
}

/** Returns an address of the legacy server in its public form. Addresses of other servers are returned unchanged. */
export function publicLocation(value: string, legacy: LegacyAddresses, publicAddress: string): string {
  if (/^\/(?!\/)/.test(value)) return publicPath(value, legacy, publicAddress) ?? value;
  const [begin = ''] = value.match(legacy.underBase) ?? [];
  // An address without a scheme gets the scheme of the public address, which may differ from the scheme between a proxy
  // and Portico.
  return begin !== '' && value.startsWith(begin)
    ? publicForm(publicAddress, 'http:', '') + value.slice(begin.length)
    : value;
}

// A client would discard a cookie for the legacy host. Without `Domain`, a cookie belongs to the host that set it.
function publicCookie(value: string, legacy: LegacyAddresses, publicAddress: string): string {
  const [pair = '', ...attributes] = value.split(';');
  const rewritten = attributes.flatMap((attribute) => {
    const [name = '', text = ''] = attribute.split('=', 2).map((part) => part.trim());
    if (name.toLowerCase() === 'domain' && isLegacyDomain(text, legacy)) return [];
    if (name.toLowerCase() !== 'path') return [attribute];
    return [` ${name}=${publicPath(text, legacy, publicAddress) ?? text}`];
  });
  return [pair, ...rewritten].join(';');
}

function isLegacyDomain(domain: string, legacy: LegacyAddresses): boolean {
  const name = domain.replace(/^\./, '').toLowerCase();
  return [...legacy.hostnames].some((host) => host === name || host.endsWith(`.${name}`));
}

// Converts a path under the legacy base path to one under the public base path. Returns undefined for any other path.
function publicPath(path: string, legacy: LegacyAddresses, publicAddress: string): string | undefined {
  const rest = path.slice(legacy.basePath.length);
  if (!path.startsWith(legacy.basePath) || !/^(?:[/?#]|$)/.test(rest)) return undefined;
  // The value is not parsed as a URL, because its host comes from the client's `Host` header and may be invalid.
  return trimEndOf(publicAddress.replace(/^\w+:\/\/[^/]*/, ''), '/') + rest || '/';
}
