import { describe, expect, it } from 'vitest';
import { UpstreamFailure } from '../../../src/engine/model/upstream-failure.ts';
import type { StreamedBody } from '../../../src/engine/model/streamed-body.ts';
import { bodyOf, drain, endOf, openBody } from '../../builders/streamed-body.ts';

const TRUNCATED = new UpstreamFailure('truncated');
const ABORTED = new UpstreamFailure('aborted');

/** Reads a body, pausing after each part. Returns a list to which the parts and finally the outcome are appended. */
function readSlowly(body: StreamedBody): unknown[] {
  const seen: unknown[] = [];
  body.read({ part: (bytes) => seen.push(bytes.toString()) < 0, end: (failure) => seen.push(failure ?? 'end') });
  return seen;
}

describe('a streamed body', () => {
  it('delivers what arrived before its reader and after, in order, and then ends', async () => {
    const { body } = openBody('a', 'b');
    const drained = drain(body);
    body.push(Buffer.from('c'));
    body.finish();
    expect(await drained).toEqual({ bytes: Buffer.from('abc'), failure: undefined });
  });

  it('delivers one part at a time to a reader that pauses, and its end with the last one', () => {
    const { body } = openBody('a');
    const seen = readSlowly(body);
    body.push(Buffer.from('b'));
    expect(seen).toEqual(['a']);
    body.finish();
    body.resume();
    expect(seen).toEqual(['a', 'b', 'end']);
  });

  it('delivers everything that arrived before its failure, however slowly it is read', () => {
    const { body } = openBody('a', 'b');
    body.finish(TRUNCATED);
    const seen = readSlowly(body);
    expect(seen).toEqual(['a']);
    body.resume();
    expect(seen).toEqual(['a', 'b', TRUNCATED]);
  });

  it('pauses its source while too much waits for the reader', () => {
    const { body, source } = openBody('x'.repeat(65_535));
    expect(source.isPaused).toBe(false);
    body.push(Buffer.from('x'));
    expect(source.isPaused).toBe(true);
    body.read({ part: () => true, end: () => undefined });
    expect(source.isPaused).toBe(false);
  });

  it('shows each part to its observer when the reader receives it', () => {
    const { body } = openBody('a', 'b');
    const observed: string[] = [];
    body.onPart((bytes) => observed.push(bytes.toString()));
    expect(observed).toEqual([]);
    readSlowly(body);
    expect(observed).toEqual(['a']);
  });

  it('can be put back and read again from its beginning', async () => {
    const { body } = openBody('a');
    body.read({
      part(bytes) {
        body.unread(bytes);
        return false;
      },
      end: () => undefined,
    });
    body.push(Buffer.from('b'));
    body.finish();
    expect((await drain(body)).bytes.toString()).toBe('ab');
  });
});

describe('a destroyed body', () => {
  it('stops its source and ends its reader and its listeners once, with the reason', () => {
    const { body, source } = openBody('a', 'b');
    const seen = readSlowly(body);
    body.onEnd((failure) => seen.push(failure));
    body.destroy(ABORTED);
    body.destroy(TRUNCATED);
    body.push(Buffer.from('c'));
    body.finish(TRUNCATED);
    body.resume();
    expect(seen).toEqual(['a', ABORTED, ABORTED]);
    expect(source.aborted).toBe(ABORTED);
  });

  // Nothing reads the rest of this body, so a listener that waits for its end would wait forever.
  it('is what remains if the client has disconnected', async () => {
    const { body } = openBody('a');
    body.finish(ABORTED);
    expect(await endOf(body)).toBe(ABORTED);
  });

  it('keeps the failure that broke it before', async () => {
    const { body, source } = openBody('a');
    body.finish(TRUNCATED);
    body.destroy();
    expect([await endOf(body), source.aborted]).toEqual([TRUNCATED, undefined]);
  });

  it('ends a reader that comes later', async () => {
    const { body } = openBody('a');
    body.destroy(TRUNCATED);
    expect(await drain(body)).toEqual({ bytes: Buffer.alloc(0), failure: TRUNCATED });
  });

  it('has an effect only before its end', async () => {
    const body = bodyOf('a');
    await drain(body);
    body.destroy();
    expect(await endOf(body)).toBeUndefined();
  });
});
