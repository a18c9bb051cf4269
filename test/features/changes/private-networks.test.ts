import type { LookupAddress } from 'node:dns';
import { describe, expect, it } from 'vitest';
import {
  AddressRefused,
  createAddressCheck,
  createCheckedLookup,
} from '../../../src/features/changes/private-networks.ts';
import { readNetwork } from '../../../src/lib/network-list.ts';

describe('the addresses to which webhooks may be sent', () => {
  const mayUse = createAddressCheck([]);

  it.each(['93.184.216.34', '8.8.8.8', '172.32.0.1', '2606:2800:220:1:248:1893:25c8:1946', '::ffff:8.8.8.8'])(
    'include %s',
    (address) => expect(mayUse(address)).toBe(true),
  );

  it.each([
    '127.0.0.1',
    '127.255.255.254',
    '0.0.0.0',
    '10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::1',
    '::',
    'fd00::1',
    'fe80::1',
    'fe80::1%eth0',
    'ff02::1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '0:0:0:0:0:ffff:7f00:1',
    '0000:0000:0000:0000:0000:ffff:7f00:0001',
    '::127.0.0.1',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    'localhost',
    '2130706433',
    '',
  ])('exclude %j', (address) => expect(mayUse(address)).toBe(false));

  it('include private ones that the configuration lists, and no others', () => {
    const allowed = createAddressCheck(['10.20.0.0/16', '::1']);
    expect(['10.20.9.9', '::1', '::ffff:10.20.0.1'].map(allowed)).toEqual([true, true, true]);
    expect(['10.21.0.1', '::2', '127.0.0.1'].map(allowed)).toEqual([false, false, false]);
  });

  it('are written as an address or a network', () => {
    expect(readNetwork('10.0.0.0/8')).toEqual({ address: '10.0.0.0', bits: 8, family: 'ipv4' });
    expect(readNetwork('::1')).toEqual({ address: '::1', bits: 128, family: 'ipv6' });
    for (const wrong of ['10.0.0.0/33', 'x/8', '10.0.0.0/8/8', '10.0.0.0/-1', '10.0.0.0/', ''])
      expect(readNetwork(wrong)).toBeUndefined();
  });
});

describe('resolving the name of a webhook', () => {
  const lookUp = (found: LookupAddress[], all: boolean) =>
    new Promise<unknown>((resolve) => {
      const lookup = createCheckedLookup(createAddressCheck([]), (_host, _options, done) => done(null, found));
      lookup('hooks.example.com', { all }, (error, address, family) => resolve(error ?? [address, family]));
    });
  const PUBLIC = { address: '8.8.8.8', family: 4 };
  const PRIVATE = { address: '192.168.0.1', family: 4 };

  it('returns the addresses that were checked', async () => {
    expect(await lookUp([PUBLIC], false)).toEqual(['8.8.8.8', 4]);
    expect(await lookUp([PUBLIC], true)).toEqual([[PUBLIC], undefined]);
  });

  it('fails if any of the addresses is private', async () => {
    for (const all of [true, false]) {
      expect(await lookUp([PRIVATE], all)).toBeInstanceOf(AddressRefused);
      expect(await lookUp([PUBLIC, PRIVATE], all)).toBeInstanceOf(AddressRefused);
      expect(await lookUp([], all)).toBeInstanceOf(Error);
    }
  });
});
