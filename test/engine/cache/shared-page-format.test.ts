import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodePage, encodePage, type SharedPage } from '../../../src/engine/cache/shared-page-format.ts';
import { toStoredPage } from '../../../src/engine/cache/stored-page.ts';

const NOW = 1_700_000_000_000;
const at = { lineage: 'one', number: 3 };

function pageWith(more: Record<string, unknown> = {}): SharedPage {
  const page = toStoredPage(
    {
      headers: [['Content-Type', 'application/json']],
      body: Buffer.from('{"list":[{"title":"päge"}]}'),
      freshness: { freshSeconds: 30, staleWhileRevalidateSeconds: 30, staleIfErrorSeconds: 300 },
      pageCount: 4,
      carriesPrivate: true,
      validity: 'valid',
      filledBy: 'caller:verified:user:alice',
    },
    ['questions', 'node:5'],
    NOW - 1_000,
    NOW - 1_200,
  );
  return { page: { ...page, ...more }, at };
}

const longest = { freshSeconds: 30, staleWhileRevalidateSeconds: 30, staleIfErrorSeconds: 300 };

const read = (value: Buffer, expectation: object = {}) =>
  decodePage(value, { hash: 'h', now: NOW, maxBytes: 1_000, longest, ...expectation });

describe('a page as bytes', () => {
  it('is the same page when it is read', () => {
    const shared = pageWith();
    expect(read(encodePage(shared, 'h'))).toEqual(shared);
  });

  it('is not used under another key', () => {
    expect(read(encodePage(pageWith(), 'another'))).toBeUndefined();
  });

  it('is not used if it is larger than the limit', () => {
    expect(read(encodePage(pageWith(), 'h'), { maxBytes: 10 })).toBeUndefined();
  });

  // A page that was stored at a future time comes from a gateway whose clock is ahead. If it were used, it would be
  // fresh for longer than the configuration allows.
  it('is not used if it comes from the future, apart from a small difference between the clocks', () => {
    expect(read(encodePage(pageWith({ storedAt: NOW + 2_001 }), 'h'))).toBeUndefined();
    const early = read(encodePage(pageWith({ storedAt: NOW + 2_000, asOf: NOW + 1_900 }), 'h'));
    expect([early?.page.storedAt, early?.page.asOf]).toEqual([NOW, NOW]);
  });

  // Another gateway may have other settings, and a value may have been planted.
  it('is never used for longer than this gateway would use it', () => {
    const far = Number.MAX_SAFE_INTEGER;
    const planted = pageWith({ freshUntilAt: far, staleUntilAt: far, errorUntilAt: far });
    expect(read(encodePage(planted, 'h'))?.page).toMatchObject({
      freshUntilAt: NOW + 29_000,
      staleUntilAt: NOW + 59_000,
      errorUntilAt: NOW + 329_000,
    });
  });

  it.each([
    ['a header with a line break', { headers: [['Content-Type', 'application/json\r\nX: y']] }],
    ['another media type', { headers: [['Content-Type', 'text/html']] }],
    ['headers that are not pairs', { headers: [['Content-Type']] }],
    ['a time that is not a number', { freshUntilAt: 'tomorrow' }],
    ['a negative time', { storedAt: -1 }],
    ['tags that are not strings', { tags: [5] }],
    ['an unknown verdict', { validity: 'skipped' }],
    ['a fractional page count', { pageCount: 1.5 }],
    ['another entity tag', { etag: '"x"' }],
    ['a caller that is not a string', { filledBy: 5 }],
  ])('is not used with %s', (_name, more) => {
    expect(read(encodePage(pageWith(more), 'h'))).toBeUndefined();
  });

  it('contains only headers that may be stored', () => {
    const headers = [
      ['Content-Type', 'application/json'],
      ['Set-Cookie', 'session=1'],
    ] as const;
    expect(read(encodePage(pageWith({ headers }), 'h'))?.page.headers).toEqual([['Content-Type', 'application/json']]);
  });

  it('is not used if it is truncated or any byte differs', () => {
    const value = encodePage(pageWith(), 'h');
    for (let length = 0; length < value.length; length += 1)
      expect(read(value.subarray(0, length)), `${length} bytes`).toBeUndefined();
    const bytes = fc.tuple(fc.nat(value.length - 1), fc.integer({ min: 1, max: 255 }));
    fc.assert(
      fc.property(bytes, ([index, difference]) => {
        const changed = Buffer.from(value);
        changed[index] = (changed[index] ?? 0) ^ difference;
        const page = read(changed)?.page;
        // Only changes to numbers and names in the header can go undetected.
        if (page !== undefined) expect(page.body).toEqual(pageWith().page.body);
      }),
    );
  });

  it('never throws, whatever the bytes are', () => {
    const mark = encodePage(pageWith(), 'h').subarray(0, 4);
    const header = fc.json().map((text) => {
      const bytes = Buffer.from(text);
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.length);
      return Buffer.concat([mark, length, bytes]);
    });
    const any = fc.uint8Array().map((bytes) => Buffer.concat([mark, bytes]));
    fc.assert(fc.property(fc.oneof(header, any), (value) => read(value) === undefined));
  });
});
