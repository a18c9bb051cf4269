import { GatewayError } from '../errors/gateway-error.ts';
import type { Fault } from '../model/fault.ts';

/** The parts of the upstream's base address. */
export interface UpstreamAddress {
  /** Scheme, host and port, without a trailing slash. */
  readonly origin: string;
  /** The path prefix without a trailing slash; empty if there is none. */
  readonly basePath: string;
}

/** The location of the address in the configuration, for configuration errors. */
type UrlPlace = Pick<Fault, 'source' | 'pointer'>;

/** Parses the base address; returns all its errors if it is invalid. */
export function parseUpstreamUrl(
  text: string,
  place: UrlPlace,
): { readonly address: UpstreamAddress } | { readonly faults: readonly Fault[] } {
  if (!URL.canParse(text)) {
    // A password may precede the @, so configuration errors do not repeat it.
    const forgotten = !/:\/\/|@/.test(text) && URL.canParse(`http://${text}`);
    const suggestion = forgotten ? `http://${text}` : undefined;
    return { faults: [{ ...place, message: 'is not an absolute URL', ...(suggestion && { suggestion }) }] };
  }
  const url = new URL(text);
  const problems = [
    url.protocol !== 'http:' && url.protocol !== 'https:' && 'must begin with http:// or https://',
    (url.username || url.password) && 'must not hold credentials; they belong in upstream.credentials',
    text.includes('?') && 'must not hold a query',
    text.includes('#') && 'must not hold a fragment',
    hasDotSegment(text) && 'must not hold . or .. segments',
    text.includes('\\') && 'must not hold a backslash',
  ].filter((problem) => typeof problem === 'string' && problem !== '');
  if (problems.length > 0) return { faults: problems.map((message) => toFault(place, String(message))) };
  return { address: { origin: url.origin, basePath: url.pathname.replace(/\/+$/, '') } };
}

const toFault = ({ source, pointer }: UrlPlace, message: string): Fault => ({ source, pointer, message });

// The URL parser resolves dot segments silently, so the text itself is checked.
function hasDotSegment(text: string): boolean {
  const path = text.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/\\?#]*/i, '').replace(/[?#].*$/s, '');
  return path.split(/[/\\]/).some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment));
}

/**
 * Returns the path that is sent to the upstream: base path and raw target. It is neither normalized nor parsed as a
 * URL, so that `//host`, backslashes and dots remain part of the path. Throws on characters that could end the request
 * line.
 */
export function upstreamPath(basePath: string, target: string): string {
  if (!target.startsWith('/') || /[^\x21-\xff]/.test(target)) {
    throw new GatewayError('unsafe_path', 'The path holds characters that are not passed on.');
  }
  return basePath + target;
}
