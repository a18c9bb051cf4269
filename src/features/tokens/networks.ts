import { BlockList, isIP } from 'node:net';
import { boundedMemo } from '../../lib/bounded-maps.ts';

const MAX_LISTS = 1_000;

/** Returns the list of networks as Node compares it with addresses. Most tokens with networks have the same few. */
const listOf = boundedMemo(MAX_LISTS, (joined: string): BlockList => {
  const list = new BlockList();
  for (const network of joined.split(' ')) {
    const [address = '', prefix] = network.split('/');
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return list;
});

/** Returns whether an address is in one of the networks. An IPv4 address may be written as an IPv6 address. */
export function isInNetworks(address: string, networks: readonly string[]): boolean {
  // The zone of a link-local address says through which interface it came, not who has it.
  const [plain = ''] = address.split('%', 1);
  const family = isIP(plain);
  return family !== 0 && listOf(networks.join(' ')).check(plain, family === 4 ? 'ipv4' : 'ipv6');
}
