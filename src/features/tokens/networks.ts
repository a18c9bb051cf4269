import { isIP } from 'node:net';
import { boundedMemo } from '../../lib/bounded-maps.ts';
import { networkList } from '../../lib/network-list.ts';

const MAX_LISTS = 1_000;

/** The lists of networks. Most tokens with networks have the same few. */
const listOf = boundedMemo(MAX_LISTS, (joined: string) => networkList(joined.split(' ')));

/** Returns whether an address is in one of the networks. An IPv4 address may be written as an IPv6 address. */
export function isInNetworks(address: string, networks: readonly string[]): boolean {
  // The zone of a link-local address says through which interface it came, not who has it.
  const [plain = ''] = address.split('%', 1);
  const family = isIP(plain);
  return family !== 0 && listOf(networks.join(' ')).check(plain, family === 4 ? 'ipv4' : 'ipv6');
}
