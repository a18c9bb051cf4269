import { describe, expect, it } from 'vitest';
import { hostInUrl, isLoopbackHost, isPrivateHost, networkOf, reachableHost } from '../../src/lib/network-address.ts';

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

  // A proxy may forward any string that a client sends. That string must not become a key of unlimited length.
  it.each(['', 'unknown', '1:2', '::1::2', '1:2:3:4:5:6:7:8:9', 'g::1', ':', 'x'.repeat(500), 'a:'.repeat(90)])(
    'of text that is not an address is that text, truncated: %s',
    (text) => {
      expect(networkOf(text)).toBe(text.slice(0, 64));
    },
  );
});

describe('isLoopbackHost', () => {
  it.each([
    ['localhost', true],
    ['127.0.0.1', true],
    ['127.10.0.2', true],
    ['::1', true],
    ['0.0.0.0', false],
    ['::', false],
    ['10.0.0.1', false],
    ['127.0.0.1.example.org', false],
  ])('%s is reachable only from this machine: %s', (host, expected) => {
    expect(isLoopbackHost(host)).toBe(expected);
  });
});

describe('isPrivateHost', () => {
  it.each(['localhost', '127.0.0.1', '10.1.2.3', '172.31.0.1', '192.168.1.1', '100.64.0.1', '[::1]', '[fd00::1]'])(
    'is true for %s',
    (host) => {
      expect(isPrivateHost(host)).toBe(true);
    },
  );

  it.each(['legacy', 'legacy.example.svc', 'qa.corp.internal', 'printer.local'])('is true for the name %s', (host) => {
    expect(isPrivateHost(host)).toBe(true);
  });

  it.each(['qa.example.org', '203.0.113.7', '172.32.0.1', '100.128.0.1', '[2001:db8::1]', 'localhost.example.org'])(
    'is false for %s',
    (host) => {
      expect(isPrivateHost(host)).toBe(false);
    },
  );
});

describe('the address of a listener', () => {
  it.each([
    ['0.0.0.0', 'http://127.0.0.1/'],
    ['::', 'http://[::1]/'],
    ['2001:db8::1', 'http://[2001:db8::1]/'],
    ['192.0.2.1', 'http://192.0.2.1/'],
    ['gateway.internal', 'http://gateway.internal/'],
  ])('%s is reached at %s', (host, url) => {
    expect(new URL(`http://${hostInUrl(reachableHost(host))}`).href).toBe(url);
  });
});
