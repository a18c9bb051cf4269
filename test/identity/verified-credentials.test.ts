import { describe, expect, it } from 'vitest';
import { createVerifiedCredentials } from '../../src/identity/verified-credentials.ts';
import { START } from './identity-fixtures.ts';

describe('the verified credentials', () => {
  it('are fresh for their time, known afterwards, unknown once forgotten', () => {
    const memory = createVerifiedCredentials(60, 10);
    expect(memory.recall('key', START)).toBe('unknown');
    memory.remember('key', 'alice', START);
    expect(memory.recall('key', START + 59_999)).toBe('fresh');
    expect(memory.recall('key', START + 60_000)).toBe('known');
    memory.forget('key');
    expect(memory.recall('key', START)).toBe('unknown');
  });

  it('expire even when the clock starts at 0', () => {
    const memory = createVerifiedCredentials(60, 10);
    memory.remember('key', 'alice', 0);
    expect(memory.recall('key', 60_000)).toBe('known');
  });

  it('are never fresh where the time is 0 seconds', () => {
    const memory = createVerifiedCredentials(0, 10);
    memory.remember('key', 'alice', START);
    expect(memory.recall('key', START)).toBe('known');
  });

  it('are bounded', () => {
    const memory = createVerifiedCredentials(60, 2);
    for (const key of ['a', 'b', 'c']) memory.remember(key, 'alice', START);
    expect(['a', 'b', 'c'].map((key) => memory.recall(key, START))).toEqual(['unknown', 'fresh', 'fresh']);
  });

  it('can be cleared', () => {
    const memory = createVerifiedCredentials(60, 2);
    memory.remember('key', 'alice', START);
    memory.clear();
    expect(memory.recall('key', START)).toBe('unknown');
  });
});
