import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { decodeForInspection, decodeResponse } from '../../../src/engine/upstream/response-body.ts';

const TEXT = Buffer.from(JSON.stringify({ list: Array.from({ length: 60 }, (_, id) => ({ id, name: `name ${id}` })) }));
const LIMIT = 1 << 20;

const responseOf = (coding: string, body: Buffer) => ({
  status: 200,
  headers: [
    ['Content-Type', 'application/json'],
    ...(coding === '' ? [] : [['Content-Encoding', coding] as const]),
    ['Content-Length', String(body.length)],
  ] as const,
  body,
});

/** Decodes a body both for a client and for inspection. Both must agree. */
async function decoded(coding: string, body: Buffer) {
  const response = responseOf(coding, body);
  const inspected = await decodeForInspection(response, LIMIT);
  try {
    const { codingFault, ...rest } = await decodeResponse('GET', response, LIMIT);
    if (codingFault !== undefined) expect(rest).toEqual(response);
    return [codingFault ?? rest.body.toString(), Buffer.isBuffer(inspected) ? inspected.toString() : inspected];
  } catch (error) {
    return [(error as { kind?: string }).kind, inspected];
  }
}

const ENCODED: Readonly<Record<string, Buffer>> = {
  gzip: gzipSync(TEXT),
  'x-gzip': gzipSync(TEXT),
  deflate: deflateSync(TEXT),
  br: brotliCompressSync(TEXT),
  zstd: zstdCompressSync(TEXT),
};
const CODINGS = Object.keys(ENCODED);
const both = (value: string) => [value, value];

describe('a content coding', () => {
  it.each([
    ...Object.entries(ENCODED),
    ['deflate', deflateRawSync(TEXT)],
    ['gzip, br', brotliCompressSync(gzipSync(TEXT))],
    ['identity', TEXT],
    ['', TEXT],
  ] as const)('%s is removed', async (coding, body) =>
    expect(await decoded(coding, body)).toEqual(both(TEXT.toString())),
  );

  const sameCoding = (one: string, other: string) => one.replace('x-', '') === other.replace('x-', '');
  const otherCodings = CODINGS.flatMap((label) =>
    Object.entries(ENCODED)
      .filter(([actual]) => !sameCoding(actual, label))
      .map(([actual, body]) => [label, actual, body] as const),
  );
  const unencoded = CODINGS.flatMap((label) => [
    [label, 'no coding', TEXT] as const,
    [label, 'a short text', Buffer.from('[]')] as const,
    [label, 'a page', Buffer.from('<html><body>caf\u00e9</body></html>')] as const,
    [label, 'Latin-1 text', Buffer.from(`["${'caf\u00e9 '.repeat(100)}"]`, 'latin1')] as const,
  ]);
  const wrong = [...otherCodings, ...unencoded];
  it.each(wrong)('%s on a body with %s is a wrong label', async (label, _actual, body) =>
    expect(await decoded(label, body)).toEqual(both('mislabelled')),
  );

  it.each([
    ['', gzipSync(TEXT)],
    ['', zstdCompressSync(TEXT)],
    ['gzip', gzipSync(gzipSync(TEXT))],
    ['gzip, gzip', gzipSync(TEXT)],
    ['deflate, br', brotliCompressSync(gzipSync(TEXT))],
  ])('whose label "%s" does not name all or too many of its codings is a wrong label', async (coding, body) =>
    expect(await decoded(coding, body)).toEqual(both('mislabelled')),
  );

  const bodies = [...Object.entries(ENCODED), ['deflate', deflateRawSync(TEXT)] as const];
  const cuts = bodies.flatMap(([coding, body]) =>
    [1, 2, 3, 10, body.length - 1].map((length) => [coding, length, body.subarray(0, length)] as const),
  );
  it.each(cuts)('%s that ends after %i bytes is a broken exchange', async (coding, _length, body) =>
    expect(await decoded(coding, body)).toEqual(['truncated', 'damaged']),
  );

  it('with a wrong checksum is a broken exchange', async () => {
    const damaged = gzipSync(TEXT);
    damaged.writeUInt8((damaged.at(-6) ?? 0) ^ 0xff, damaged.length - 6);
    expect(await decoded('gzip', damaged)).toEqual(['truncated', 'damaged']);
  });

  it.each(['compress', 'gzip, gzip, gzip'])('%s cannot be removed', async (coding) =>
    expect(await decoded(coding, TEXT)).toEqual(['unsupported', undefined]),
  );

  it.each(['compress', 'gzip', 'br'])('%s of an empty body does not matter', async (coding) =>
    expect((await decoded(coding, Buffer.alloc(0)))[0]).toBe(''),
  );
});
