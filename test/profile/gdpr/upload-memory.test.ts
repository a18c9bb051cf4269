import { describe, expect, it } from 'vitest';
import { createUploadMemory, type UploadAttempt } from '../../../src/profile/gdpr/upload-memory.ts';

const content = Buffer.from('{"content":"email\\na@example.org"}');

function memoryAt(now: number, duplicateWindowSeconds = 600) {
  const time = { now };
  const memory = createUploadMemory(() => time.now);
  const begin = (changes: Partial<UploadAttempt> = {}) =>
    memory.begin({ caller: 'admin', content, force: false, windowMs: duplicateWindowSeconds * 1000, ...changes });
  const upload = (status: number | undefined, changes: Partial<UploadAttempt> = {}) => {
    const verdict = begin(changes);
    if (verdict.verdict === 'first') verdict.finish(status);
    return verdict.verdict;
  };
  return { time, begin, upload };
}

describe('a repeated upload', () => {
  it('of the same caller and body is a duplicate after a 2xx inside the window', () => {
    const { upload, begin } = memoryAt(1_000_000);
    expect(upload(201)).toBe('first');
    expect(begin()).toEqual({ verdict: 'duplicate', because: 'accepted' });
  });

  it('of another caller or another body is not a duplicate', () => {
    const { upload } = memoryAt(1_000_000);
    upload(201);
    expect(upload(201, { caller: 'root' })).toBe('first');
    expect(upload(201, { content: Buffer.from('{}') })).toBe('first');
  });

  it.each([400, 403, 500, 302, undefined])('is not a duplicate after %s', (status) => {
    const { upload } = memoryAt(1_000_000);
    upload(status);
    expect(upload(201)).toBe('first');
  });

  it('is not a duplicate after the window', () => {
    const { upload, time } = memoryAt(1_000_000);
    upload(201);
    time.now += 599_999;
    expect(upload(201)).toBe('duplicate');
    time.now += 1;
    expect(upload(201)).toBe('first');
  });

  // If the check considered only the elapsed time, an upload would remain a duplicate after the clock was set back,
  // until the clock caught up.
  it('is not a duplicate after the clock is set back by more than the window', () => {
    const { upload, time } = memoryAt(1_000_000);
    upload(201);
    time.now -= 599_999;
    expect(upload(201)).toBe('duplicate');
    time.now -= 1;
    expect(upload(201)).toBe('first');
  });

  it('is a duplicate even if the first came at time 0', () => {
    const { upload, time } = memoryAt(0);
    upload(201);
    expect(upload(201)).toBe('duplicate');
    time.now = 600_000;
    expect(upload(201)).toBe('first');
  });

  it('is a duplicate while the first is in progress', () => {
    const { begin } = memoryAt(1_000_000);
    const first = begin();
    expect(begin()).toEqual({ verdict: 'duplicate', because: 'in flight' });
    if (first.verdict === 'first') first.finish(500);
    expect(begin().verdict).toBe('first');
  });

  it('is allowed with Portico-Force', () => {
    const { begin, upload } = memoryAt(1_000_000);
    const first = begin();
    expect(begin({ force: true }).verdict).toBe('first');
    if (first.verdict === 'first') first.finish(201);
    expect(upload(201, { force: true })).toBe('first');
  });

  it('that is forced and fails does not clear the accepted one', () => {
    const { upload } = memoryAt(1_000_000);
    upload(201);
    upload(500, { force: true });
    expect(upload(201)).toBe('duplicate');
  });

  it('counts each upload in progress once, however often it is finished', () => {
    const { begin } = memoryAt(1_000_000);
    const first = begin();
    const forced = begin({ force: true });
    if (first.verdict === 'first') {
      first.finish(500);
      first.finish(500);
    }
    expect(begin()).toEqual({ verdict: 'duplicate', because: 'in flight' });
    if (forced.verdict === 'first') forced.finish(500);
    expect(begin().verdict).toBe('first');
  });

  it('is never a duplicate with a window of 0', () => {
    const { upload, begin } = memoryAt(1_000_000, 0);
    upload(201);
    begin();
    expect(begin().verdict).toBe('first');
  });
});
