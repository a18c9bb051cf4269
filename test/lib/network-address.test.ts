import { describe, expect, it } from 'vitest';
import {
  hostInUrl,
  isClearAndPublic,
  isLoopbackHost,
  isPrivateHost,
  networkOf,
  reachableHost,
} from '../../src/lib/network-address.ts';

describe('the network of an address', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:c000:201', '192.0.2.1'],
    ['::ffff:0.0.0.1', '0.0.0.1'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::ffff:10.20.30.40', '10.20.30.40'],
    ['1::ffff:192.0.2.1', '1:0:0:0::/64'],
    ['::fffe:192.0.2.1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
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
  it.each([
    '',
    'unknown',
    '1:2',
    '12345::1',
    '::12345',
    '1::192.0.2',
    '1::1.2.3.4.5',
    '::1::2',
    '1:2:3:4:5:6:7:8:9',
    'g::1',
    ':',
    'x'.repeat(500),
    'a:'.repeat(90),
  ])('of text that is not an address is that text, truncated: %s', (text) => {
    expect(networkOf(text)).toBe(text.slice(0, 64));
  });
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
    ['127.0.0', false],
    ['127.0.0.1000', false],
    ['127.100.100.100', true],
    ['192.127.0.0.1', false],
    ['localhost.example.org', false],
  ])('%s is reachable only from this machine: %s', (host, expected) => {
    expect(isLoopbackHost(host)).toBe(expected);
  });
});

describe('isPrivateHost', () => {
  // The first and last address of each network, and the names of RFC 6761, RFC 6762 and RFC 8375.
  it.each([
    '127.0.0.1',
    '10.0.0.0',
    '10.255.255.255',
    '169.254.0.1',
    '192.168.1.1',
    '172.16.0.0',
    '172.20.0.1',
    '172.31.255.255',
    '100.64.0.0',
    '100.70.0.1',
    '100.99.0.1',
    '100.100.0.1',
    '100.119.0.1',
    '100.120.0.1',
    '100.127.255.255',
    '[::1]',
    '::1',
    '[fc00::1]',
    '[fd00::1]',
    'FD00::1',
    '[fe80::1]',
    'febf::1',
  ])('is true for the address %s', (host) => {
    expect(isPrivateHost(host)).toBe(true);
  });

  it.each([
    'localhost',
    'legacy',
    'qa.localhost',
    'printer.local',
    'Printer.LOCAL',
    'qa.corp.internal',
    'qa.intranet',
    'nas.lan',
    'home.arpa',
    'nas.home.arpa',
    'legacy.example.svc',
    'legacy.cluster.local',
    'qa.test',
  ])('is true for the name %s', (host) => {
    expect(isPrivateHost(host)).toBe(true);
  });

  it.each([
    'qa.example.org',
    'localhost.example.org',
    'internal.example.org',
    'qa.notlocal',
    'qa.homeXarpa',
    '203.0.113.7',
    '110.0.0.1',
    '128.0.0.1',
    '169.253.0.1',
    '192.167.0.1',
    '172.15.255.255',
    '172.32.0.1',
    '100.63.255.255',
    '100.128.0.1',
    '8.127.0.1',
    '[2001:db8::1]',
    '2001:db8::1',
    '[::2]',
    '::1:1',
    'fec0::1',
    '2001:fd::1',
  ])('is false for %s', (host) => {
    expect(isPrivateHost(host)).toBe(false);
  });
});

describe('isClearAndPublic', () => {
  it.each([
    ['http://qa.example.org/qa', true],
    ['http://203.0.113.7:8080', true],
    ['https://qa.example.org/qa', false],
    ['http://localhost:8080', false],
    ['http://[::1]:8080', false],
    ['qa.example.org', false],
    ['', false],
  ])('%s would cross a public network unencrypted: %s', (url, expected) => {
    expect(isClearAndPublic(url)).toBe(expected);
  });
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
