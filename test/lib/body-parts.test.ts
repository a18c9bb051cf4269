import { describe, expect, it } from 'vitest';
import { BodyParts } from '../../src/lib/body-parts.ts';
import { memoryInUse } from '../builders/held-memory.ts';

describe('the parts of a body', () => {
  it('are put together in order, whatever their sizes', () => {
    const sizes = [1, 5000, ...Array.from({ length: 40 }, () => 700), 65_536, 3, 1024, 1023, 0, 100_000, 1, 1];
    const parts = sizes.map((size, at) => Buffer.alloc(size, at));
    const body = new BodyParts();
    for (const part of parts) body.add(part);
    expect(body.length).toBe(Buffer.concat(parts).length);
    expect(body.whole().equals(Buffer.concat(parts))).toBe(true);
  });

  it('that came alone are not copied', () => {
    const body = new BodyParts();
    const part = Buffer.from('whole');
    body.add(part);
    expect(body.whole()).toBe(part);
  });

  it('that are small do not keep the memory that they came in', async () => {
    const body = new BodyParts();
    const before = await memoryInUse();
    for (let part = 0; part < 500; part += 1) body.add(Buffer.alloc(262_144).subarray(0, 1));
    const after = await memoryInUse();
    expect(body.length).toBe(500);
    // The first few are kept as they came. All of them would be 125 MiB.
    expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(8 * 1024 * 1024);
  });
});
