import { describe, expect, it } from 'vitest';
import { isInNetworks } from '../../../src/features/tokens/networks.ts';

describe('the networks of a token', () => {
  it.each([
    ['10.1.2.3', ['10.0.0.0/8'], true],
    ['11.1.2.3', ['10.0.0.0/8'], false],
    ['::ffff:10.1.2.3', ['10.0.0.0/8'], true],
    ['::ffff:11.1.2.3', ['10.0.0.0/8'], false],
    ['2001:db8::1', ['192.0.2.1', '2001:db8::/32'], true],
    ['192.0.2.1', ['192.0.2.1', '2001:db8::/32'], true],
    ['192.0.2.2', ['192.0.2.1', '2001:db8::/32'], false],
    ['fe80::1%eth0', ['fe80::/10'], true],
    ['', ['0.0.0.0/0', '::/0'], false],
    ['unknown', ['0.0.0.0/0', '::/0'], false],
  ])('%s in %j: %s', (address, networks, expected) => {
    expect(isInNetworks(address, networks)).toBe(expected);
  });
});
