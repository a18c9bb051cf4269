import { describe, expect, it } from 'vitest';
import { createClientStreams } from '../../../src/engine/upstream/client-streams.ts';
import type { StreamOwner } from '../../../src/engine/upstream/stream-owner.ts';
import { heldMemory } from '../../builders/held-memory.ts';

const ownerOf = (caller: string | undefined, address: string): StreamOwner => ({ caller, isVerified: true, address });

describe('the limit on streams', () => {
  const wide = { total: 1000, perCaller: 1000, perAddress: 1000 };

  // The attack: a client opens streams and reads them slowly, until no other client can open one.
  it.each([
    ['in total', { ...wide, total: 2 }, [ownerOf('a', '192.0.2.1'), ownerOf('b', '192.0.2.2'), ownerOf('c', '::1')]],
    [
      'of a caller',
      { ...wide, perCaller: 2 },
      [ownerOf('a', '192.0.2.1'), ownerOf('a', '192.0.2.2'), ownerOf('a', '::1')],
    ],
    [
      'of a network',
      { ...wide, perAddress: 2 },
      [ownerOf('a', '2001:db8::1'), ownerOf('b', '2001:db8::2'), ownerOf(undefined, '2001:db8::3')],
    ],
  ] as const)(
    '%s admits exactly as many as configured, and another one when one has ended',
    (_name, limits, owners) => {
      const streams = createClientStreams(limits);
      const [first, second, third] = owners;
      const check = () => streams.check(third);
      const end = streams.begin(first);
      expect(check).not.toThrow();
      streams.begin(second);
      expect(check).toThrow(expect.objectContaining({ kind: 'shed', retryAfterSeconds: 5 }));
      // Only the first call ends the stream.
      end();
      end();
      expect(check).not.toThrow();
      streams.begin(third);
      expect(check).toThrow();
      expect(streams.open()).toBe(2);
    },
  );

  it('leaves room for the streams of other callers and networks', () => {
    const streams = createClientStreams({ ...wide, perCaller: 1, perAddress: 1 });
    streams.begin(ownerOf('a', '192.0.2.1'));
    expect(() => streams.check(ownerOf('b', '192.0.2.2'))).not.toThrow();
  });

  it('needs no memory for clients whose streams have ended', async () => {
    const streams = createClientStreams(wide);
    const held = await heldMemory(() => {
      for (let index = 0; index < 20_000; index += 1)
        streams.begin(ownerOf(`caller ${index}`, `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`))();
    });
    expect(held).toBeLessThan(1_500_000);
    expect(streams.open()).toBe(0);
  });
});
