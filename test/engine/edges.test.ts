import { describe, expect, it } from 'vitest';
import { ownAddress } from '../../src/engine/edges.ts';

describe("the address of the process's own listener", () => {
  it('is the address of the listener, or loopback if it listens on all addresses', () => {
    expect(ownAddress({ address: '192.0.2.1', family: 'IPv4', port: 80 })).toEqual({ host: '192.0.2.1', port: 80 });
    expect(ownAddress({ address: '0.0.0.0', family: 'IPv4', port: 80 })).toEqual({ host: '127.0.0.1', port: 80 });
    expect(ownAddress({ address: '::', family: 'IPv6', port: 80 })).toEqual({ host: '::1', port: 80 });
  });

  it('is undefined before it listens', () => {
    expect(ownAddress(null)).toBeUndefined();
  });
});
