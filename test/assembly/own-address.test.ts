import { describe, expect, it } from 'vitest';
import { ownAddress } from '../../src/assembly/own-address.ts';

describe('the way to an own listener', () => {
  it('is its address, or loopback where it listens on all of them', () => {
    expect(ownAddress({ address: '192.0.2.1', family: 'IPv4', port: 80 })).toEqual({ host: '192.0.2.1', port: 80 });
    expect(ownAddress({ address: '0.0.0.0', family: 'IPv4', port: 80 })).toEqual({ host: '127.0.0.1', port: 80 });
    expect(ownAddress({ address: '::', family: 'IPv6', port: 80 })).toEqual({ host: '::1', port: 80 });
  });

  it('is not there before it listens', () => {
    expect(ownAddress(null)).toBeUndefined();
  });
});
