import { describe, expect, it } from 'vitest';
import { networkOf } from '../../src/lib/network-address.ts';

describe('the network of an address', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:c000:201', '192.0.2.1'],
    ['0:0:0:0:0:ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::ffff', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8:0:0:1::', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
  ])('of %s is %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });

  // A proxy may forward any string that a client sent. Such a string must not become a key of unlimited length.
  it.each(['', 'unknown', '1:2', '::1::2', '1:2:3:4:5:6:7:8:9', 'g::1', ':', 'x'.repeat(500), 'a:'.repeat(90)])(
    'of text that is not an address is that text, truncated: %s',
    (text) => {
      expect(networkOf(text)).toBe(text.slice(0, 64));
    },
  );
});
