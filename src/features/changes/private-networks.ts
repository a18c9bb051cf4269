import { type LookupAllOptions, type LookupOneOptions, lookup as dnsLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { networkList } from '../../lib/network-list.ts';

/**
 * The networks that are not part of the public internet (RFC 6890 and its registries), and those whose addresses contain
 * an IPv4 address, which would have to be checked as well.
 */
const PRIVATE: readonly string[] = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
  '5f00::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
];

/** IPv6 addresses that stand for an IPv4 address, which Node checks as such. */
const MAPPED = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i;

const privateList = networkList(PRIVATE);

/** Returns a function that tells whether messages may be sent to an address. */
export function createAddressCheck(allowed: readonly string[]): (address: string) => boolean {
  const allowedList = networkList(allowed);
  return (given) => {
    const address = MAPPED.exec(given)?.[1] ?? given;
    const version = isIP(address);
    if (version === 0) return false;
    const family = version === 4 ? 'ipv4' : 'ipv6';
    // Any other spelling of a mapped address is refused.
    const isMapped = version === 6 && /^(?:0{0,4}:){1,6}:?ffff:/i.test(address);
    return allowedList.check(address, family) || (!isMapped && !privateList.check(address, family));
  };
}

/** The error for an address to which no message may be sent. Its message never names the address. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';

  constructor() {
    super('the address is in a private network that changes.allowPrivate does not list');
  }
}

type Resolve = (
  host: string,
  options: LookupAllOptions,
  done: (error: NodeJS.ErrnoException | null, found: { address: string; family: number }[]) => void,
) => void;

/**
 * Returns a function that resolves host names for new connections, and fails if one of the addresses may not be used. The
 * connection is opened to an address that was checked, so a name that resolves differently the next time does not help.
 */
export function createCheckedLookup(
  mayUse: (address: string) => boolean,
  resolve: Resolve = dnsLookup,
): LookupFunction {
  return (host, options, done) => {
    const { family, hints } = options as LookupOneOptions;
    const given = { ...(family !== undefined && { family }), ...(hints !== undefined && { hints }) };
    resolve(host, { ...given, all: true }, (error, found) => {
      const [first] = error ? [] : found;
      if (error !== null || first === undefined) done(error ?? new Error('the name has no address'), '', 0);
      else if (!found.every(({ address }) => mayUse(address))) done(new AddressRefused(), '', 0);
      else if (options.all === true) done(null, found);
      else done(null, first.address, first.family);
    });
  };
}
