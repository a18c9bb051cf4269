import { describe, expect, it } from 'vitest';
import { ExpectedError } from '../../src/lib/expected-error.ts';

describe('an expected error', () => {
  it('has no stack frames, and leaves those of other errors alone', () => {
    const cause = new Error('lost');
    const error = new ExpectedError('refused', { cause });
    expect(error.stack).toBe('Error: refused');
    expect(error.cause).toBe(cause);
    expect(new Error('next').stack).toContain(import.meta.filename);
  });
});
