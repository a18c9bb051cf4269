import { type Fault, StartFault } from '../model/fault.ts';
import { trimEndOf } from '../../lib/trim-end.ts';

/** The parts of the upstream's base address. */
export interface UpstreamAddress {
  /** The scheme, host and port, without a trailing slash. */
  readonly origin: string;
  /** The path prefix without a trailing slash. Empty if there is no prefix. */
  readonly basePath: string;
  /**
   * The value of `Host`, and the name that a certificate must have, if they are not those of the origin. Requests that
   * `exchangeAside` sends do not have it.
   */
  readonly host?: string | undefined;
}

/** The location of the address in the configuration, for use in configuration errors. */
type UrlPlace = Pick<Fault, 'source' | 'pointer'>;

/** Parses the base address. If it is invalid, returns all of its errors. */
export function parseUpstreamUrl(
  text: string,
  place: UrlPlace,
): { readonly address: UpstreamAddress } | { readonly faults: readonly Fault[] } {
  if (!URL.canParse(text)) {
    // The text before the @ may contain a password, so configuration errors never repeat it.
    const lacksScheme = !/:\/\/|@/.test(text) && URL.canParse(`http://${text}`);
    const suggestion = lacksScheme ? `http://${text}` : undefined;
    return { faults: [{ ...place, message: 'is not an absolute URL', ...(suggestion && { suggestion }) }] };
  }
  const url = new URL(text);
  const problems = [
    url.protocol !== 'http:' && url.protocol !== 'https:' && 'must begin with http:// or https://',
    (url.username || url.password) && 'must not contain credentials; set them in upstream.credentials',
    text.includes('?') && 'must not contain a query',
    text.includes('#') && 'must not contain a fragment',
    hasDotSegment(text) && 'must not contain . or .. segments',
    text.includes('\\') && 'must not contain a backslash',
  ].filter((problem) => typeof problem === 'string' && problem !== '');
  if (problems.length > 0) return { faults: problems.map((message) => toFault(place, String(message))) };
  return { address: { origin: url.origin, basePath: trimEndOf(url.pathname, '/') } };
}

/** Returns the parts of a base address. Throws a StartFault with all of its errors if it is invalid. */
export function upstreamAddressOf(url: string, place: UrlPlace): UpstreamAddress {
  const parsed = parseUpstreamUrl(url, place);
  if ('faults' in parsed) throw new StartFault(parsed.faults);
  return parsed.address;
}

const toFault = ({ source, pointer }: UrlPlace, message: string): Fault => ({ source, pointer, message });

// The URL parser silently resolves dot segments, so they must be detected in the text itself.
function hasDotSegment(text: string): boolean {
  const [path = ''] = text.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/\\?#]*/i, '').split(/[?#]/, 1);
  return path.split(/[/\\]/).some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment));
}
