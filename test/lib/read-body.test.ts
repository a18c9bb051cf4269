import { buffer } from 'node:stream/consumers';
import { PassThrough, Readable } from 'node:stream';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { readBody } from '../../src/lib/read-body.ts';
import { until } from '../builders/until.ts';

const LIMIT = 10;
const streamOf = (...parts: string[]) => Readable.from(parts.map((part) => Buffer.from(part)));

describe('readBody', () => {
  afterEach(() => vi.useRealTimers());

  it.each([
    ['an empty body', []],
    ['one chunk', ['0123456789']],
    ['several chunks', ['01234', '56789']],
  ])('returns all of %s up to the limit', async (_what, parts) => {
    const read = await readBody(streamOf(...parts), { bytes: LIMIT });
    expect([read.state, read.bytes.toString()]).toEqual(['whole', parts.join('')]);
  });

  it('returns the stream of a larger body, which still yields every byte in order', async () => {
    const read = await readBody(streamOf('012345', '6789a', 'bc', 'd'), { bytes: LIMIT });
    expect([read.state, read.bytes.toString()]).toEqual(['larger', '0123456789a']);
    expect(read.state === 'larger' && (await buffer(read.stream)).toString()).toBe('0123456789abcd');
  });

  it('pushes the bytes of a larger body back even if they were the last ones', async () => {
    const source = new PassThrough();
    source.end('0123456789a');
    const read = await readBody(source, { bytes: LIMIT });
    expect(read.state === 'larger' && (await buffer(read.stream)).toString()).toBe('0123456789a');
  });

  it('does not read a larger body further than needed', async () => {
    const source = new PassThrough();
    source.write('0123456789a');
    await readBody(source, { bytes: LIMIT });
    source.write('b');
    expect([source.readableLength, source.destroyed]).toEqual([12, false]);
  });

  it('returns the bytes that arrived before a failure, and the error', async () => {
    const source = new PassThrough();
    const reading = readBody(source, { bytes: LIMIT });
    source.write('abc');
    await until(() => source.readableLength === 0);
    const error = new Error('reset');
    source.destroy(error);
    const read = await reading;
    expect(read).toMatchObject({ state: 'broken', error });
    expect(read.bytes.toString()).toBe('abc');
  });

  // If a client disconnects before its body is read, the stream emits no further events.
  it.each([
    ['closes before its end', (source: PassThrough) => setImmediate(() => source.destroy())],
    ['was closed before', (source: PassThrough) => source.destroy()],
  ])('reports a body as broken if its stream %s', async (_what, close) => {
    const source = new PassThrough();
    close(source);
    expect(await readBody(source, { bytes: LIMIT })).toMatchObject({ state: 'broken' });
  });

  // Without this limit, the gateway would wait forever for a client that sends one byte and then nothing else.
  it('stops when the source pauses for too long, and leaves the source open', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const source = new PassThrough();
    const reading = readBody(source, { bytes: LIMIT, silenceMs: 1000 });
    for (const part of ['a', 'b', 'c']) {
      source.write(part);
      await new Promise((resolve) => setImmediate(resolve));
      vi.advanceTimersByTime(900);
    }
    vi.advanceTimersByTime(100);
    const read = await reading;
    expect([read.state, read.bytes.toString(), source.destroyed]).toEqual(['broken', 'abc', false]);
  });

  it('stops the timer and removes its listeners at the end', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const source = new PassThrough();
    const listeners = () => source.eventNames().map((name) => [name, source.listenerCount(name)]);
    const before = listeners();
    source.write('0123456789a');
    await readBody(source, { bytes: LIMIT, silenceMs: 1000 });
    expect([vi.getTimerCount(), listeners()]).toEqual([0, before]);
  });
});
