import { promisify } from 'node:util';
import { gunzip, gzip, zstdCompress, zstdDecompress } from 'node:zlib';
import type { Coding } from './representation.ts';

type Transform<Options extends unknown[]> = (body: Buffer, ...options: Options) => Promise<Buffer>;

const COMPRESS: Readonly<Record<Coding, Transform<[]>>> = { gzip: promisify(gzip), zstd: promisify(zstdCompress) };

const EXPAND: Readonly<Record<Coding, Transform<[{ maxOutputLength: number }]>>> = {
  gzip: promisify(gunzip),
  zstd: promisify(zstdDecompress),
};

/** Returns a body in a content coding. It is compressed on a thread. */
export const compressed = (body: Buffer, coding: Coding): Promise<Buffer> => COMPRESS[coding](body);

/** Returns a compressed body without its content coding. Rejects if it is damaged or has more than `limit` bytes. */
export const expanded = (body: Buffer, coding: Coding, limit: number): Promise<Buffer> =>
  EXPAND[coding](body, { maxOutputLength: limit });
