const IPV4 = /^\d{1,3}(?:\.\d{1,3}){3}$/;
const GROUP = /^[\da-f]{1,4}$/;
const MAX_LENGTH = 64;

/**
 * Returns the network that rate limits use instead of an address. For IPv4, the network is the address itself. For
 * IPv6, it is the /64 prefix, because one client usually controls the whole prefix (RFC 6177 §2). An IPv4-mapped IPv6
 * address (RFC 4291 §2.5.5.2) is treated as an IPv4 address. Any other string is returned as is, truncated to 64
 * characters.
 */
export function networkOf(address: string): string {
  const groups = address.includes(':') ? groupsOf(address) : undefined;
  if (groups === undefined) return address.slice(0, MAX_LENGTH);
  const [high = 0, low = 0] = groups.slice(6);
  const mapped = groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0);
  if (mapped) return [high >> 8, high & 255, low >> 8, low & 255].join('.');
  const prefix = groups.slice(0, 4).map((group) => group.toString(16));
  return `${prefix.join(':')}::/64`;
}

/** Returns the eight groups of an IPv6 address in any notation, or undefined for any other string. */
function groupsOf(address: string): number[] | undefined {
  const [plain = ''] = address.toLowerCase().split('%', 1);
  const parts = plain.split('::');
  const [head = [], tail] = parts.map((part) => (part === '' ? [] : part.split(':').flatMap(hexadecimal)));
  if (parts.length > 2) return undefined;
  const zeros = Array<string>(Math.max(0, 8 - head.length - (tail?.length ?? 0))).fill('0');
  const filled = tail === undefined ? head : [...head, ...zeros, ...tail];
  return filled.length === 8 && filled.every((group) => GROUP.test(group))
    ? filled.map((group) => Number.parseInt(group, 16))
    : undefined;
}

/** Returns a group of an IPv6 address unchanged, or converts an embedded IPv4 address to two groups. */
function hexadecimal(group: string): string[] {
  if (!IPV4.test(group)) return [group];
  const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
  return [(a * 256 + b).toString(16), (c * 256 + d).toString(16)];
}

/** Returns whether a listen address is reachable only from this machine. */
export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/**
 * Returns the host to use to reach a listener from this machine. If the listener is bound to all addresses, the host is
 * the loopback address.
 */
export function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}

/** Returns a host in the form used in URLs, with an IPv6 address in brackets (RFC 3986 §3.2.2). */
export function hostInUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

const PRIVATE_IPV4 =
  /^(?:10\.|127\.|169\.254\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.)/;
const PRIVATE_IPV6 = /^\[?(?:::1\]?$|f[cd]|fe[89ab])/i;
const PRIVATE_NAME = /(?:^|\.)(?:localhost|local|internal|intranet|lan|home\.arpa|svc|cluster\.local|test)$/i;

/**
 * Returns whether a host name or address belongs to this machine or to a private network (RFC 1918, RFC 4193, RFC 6598,
 * RFC 6762, RFC 8375). A name without a dot, such as a container's name, also counts as private.
 */
export function isPrivateHost(host: string): boolean {
  if (IPV4.test(host)) return PRIVATE_IPV4.test(host);
  if (host.includes(':')) return PRIVATE_IPV6.test(host);
  return !host.includes('.') || PRIVATE_NAME.test(host);
}

/** Returns whether requests to a URL would cross a public network unencrypted. */
export function isClearAndPublic(url: string): boolean {
  return URL.canParse(url) && new URL(url).protocol === 'http:' && !isPrivateHost(new URL(url).hostname);
}
