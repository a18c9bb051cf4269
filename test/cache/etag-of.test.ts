import { describe, expect, it } from 'vitest';
import { etagOf } from '../../src/cache/etag-of.ts';

describe('an entity tag', () => {
  it('is strong and quoted', () => {
    expect(etagOf(Buffer.from('{}'))).toMatch(/^"[A-Za-z0-9_-]{22}"$/);
  });

  it('is the same for the same bytes only', () => {
    expect(etagOf(Buffer.from('{}'))).toBe(etagOf(Buffer.from('{}')));
    expect(etagOf(Buffer.from('{}'))).not.toBe(etagOf(Buffer.from('{ }')));
  });
});
